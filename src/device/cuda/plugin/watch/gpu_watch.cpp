// See gpu_watch.hpp.
#include "device/cuda/plugin/watch/gpu_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "device/cuda/plugin/device_guard.hpp"

namespace hone::device::cuda {
namespace {

using base::DeviceWork;

}  // namespace

GpuWatch::GpuWatch(Gpu& gpu, const Stream& stream, const std::vector<engine::ProgramStep>& steps,
                   const StepRunner& run_step, std::function<void()> at_end)
    : gpu_(gpu),
      stream_(stream),
      at_end_(std::move(at_end)),
      steps_(gpu.memory(), stream, steps.size(), run_step),
      clock_(stream),
      to_device_ns_(measure_latency(cudaMemcpyHostToDevice)),
      to_host_ns_(measure_latency(cudaMemcpyDeviceToHost)),
      copy_name_(text("cudaMemcpyAsync")),
      launch_name_(text("cudaGraphLaunch")),
      wait_name_(text("cudaStreamSynchronize")) {
  constexpr size_t kRuns = 256;
  waits_.reserve(3 * kRuns);
  copies_.reserve(2 * kRuns);
  record_.calls.reserve(6 * kRuns);
  stamps_.reserve(steps_.stamps().size() * kRuns);
  record_.device = describe_device(gpu.properties().ordinal);
  describe_steps(steps);
  steps_.launch(stream_);  // kernels are loaded when they first run
  stream_.synchronize();
}

int64_t GpuWatch::measure_latency(cudaMemcpyKind kind) {
  constexpr size_t kCopies = 33;
  constexpr int64_t kBytes = 8;
  const DeviceBytes device(gpu_.memory(), kBytes);
  const PinnedBytes host(kBytes);
  const bool to_device = kind == cudaMemcpyHostToDevice;
  std::array<int64_t, kCopies> latencies{};
  for (int64_t& latency : latencies) {
    const int64_t start = base::monotonic_ns();
    check(cudaMemcpyAsync(to_device ? device.data() : host.data(), to_device ? host.data() : device.data(),
                          kBytes, kind, stream_.get()),
          "a copy");
    stream_.synchronize();
    latency = base::monotonic_ns() - start;
  }
  std::nth_element(latencies.begin(), latencies.begin() + kCopies / 2, latencies.end());
  return latencies[kCopies / 2];
}

int64_t GpuWatch::text(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) return found->second;
  const auto id = static_cast<int64_t>(record_.texts.size());
  record_.texts.emplace_back(text);
  texts_.emplace(text, id);
  return id;
}

int64_t GpuWatch::thread() {
  // Asking for the thread's id is a system call.
  if (std::this_thread::get_id() != caller_) {
    caller_ = std::this_thread::get_id();
    thread_ = gettid();
  }
  return thread_;
}

template <class F>
int64_t GpuWatch::call(int64_t name, bool waits, F&& make) {
  base::DeviceCall call{.name = name, .thread = thread(), .waits = waits};
  call.start_ns = base::monotonic_ns();
  make();
  call.end_ns = base::monotonic_ns();
  record_.calls.push_back(call);
  return static_cast<int64_t>(record_.calls.size()) - 1;
}

void GpuWatch::describe_steps(const std::vector<engine::ProgramStep>& steps) {
  for (const RecordedNode& node : steps_.nodes()) record_.nodes.push_back({text(steps[node.step].name)});
  for (const Stretch& stretch : steps_.stretches()) {
    // If nodes are timed together, the first kernel represents all of them.
    size_t shown = stretch.first;
    for (size_t i = stretch.first + stretch.count; i-- > stretch.first;) {
      if (steps_.description(i).type == cudaGraphNodeTypeKernel) shown = i;
    }
    const NodeDescription& description = steps_.description(shown);
    DeviceWork work{.node = static_cast<int64_t>(shown), .bytes = description.bytes};
    if (description.type == cudaGraphNodeTypeKernel) {
      work.name = text(description.kernel);
      work.launch = static_cast<int64_t>(record_.launches.size());
      record_.launches.push_back(description.launch);
    } else {
      const bool fills = description.type == cudaGraphNodeTypeMemset;
      work.kind = fills ? DeviceWork::Kind::kFill : DeviceWork::Kind::kCopyWithin;
    }
    pattern_.push_back(work);
  }
}

void GpuWatch::copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  DeviceWork work;
  work.kind =
      kind == cudaMemcpyHostToDevice ? DeviceWork::Kind::kCopyToDevice : DeviceWork::Kind::kCopyToHost;
  work.bytes = static_cast<int64_t>(bytes);
  work.call = call(copy_name_, false,
                   [&] { check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "a copy"); });
  copies_.push_back(work);
}

void GpuWatch::launch_steps() {
  run_ = call(launch_name_, false, [this] { steps_.launch(stream_); });
}

void GpuWatch::synchronize() {
  Wait wait{.call = call(wait_name_, true, [this] { stream_.synchronize(); })};
  wait.copies = copies_.size() - std::exchange(copies_waited_for_, copies_.size());
  wait.run = std::exchange(run_, -1);
  waits_.push_back(wait);
  if (wait.run < 0) return;
  const std::span<const KernelStamp> stamps = steps_.stamps();
  stamps_.insert(stamps_.end(), stamps.begin(), stamps.end());
}

void GpuWatch::add_copies(std::vector<DeviceWork> copies, int64_t wait) {
  if (copies.empty()) return;
  const bool to_device = copies.front().kind == DeviceWork::Kind::kCopyToDevice;
  place_copies(copies, record_.calls[static_cast<size_t>(copies.front().call)].start_ns,
               record_.calls[static_cast<size_t>(wait)].end_ns, to_device ? to_device_ns_ : to_host_ns_);
  record_.work.insert(record_.work.end(), copies.begin(), copies.end());
}

void GpuWatch::add_kernels(int64_t call, std::span<const KernelStamp> stamps) {
  std::vector<DeviceWork> run = pattern_;
  for (size_t i = 0; i < run.size(); ++i) {
    const Stretch& stretch = steps_.stretches()[i];
    run[i].call = call;
    run[i].start_ns = static_cast<int64_t>(time_of(stretch.start, stamps));
    run[i].end_ns = static_cast<int64_t>(time_of(stretch.stop, stamps));
  }
  early_ns_ += put_in_line(run);
  kernels_.insert(kernels_.end(), run.begin(), run.end());
}

base::DeviceRecord GpuWatch::finish() {
  const DeviceGuard guard(gpu_.context());
  stream_.synchronize();
  clock_.ask_again(stream_);
  auto copy = copies_.begin();
  std::span<const KernelStamp> stamps = stamps_;
  for (const Wait& wait : waits_) {
    const auto first = copy;
    copy += static_cast<std::ptrdiff_t>(wait.copies);
    add_copies(std::vector<DeviceWork>(first, copy), wait.call);
    if (wait.run < 0) continue;
    add_kernels(wait.run, stamps.first(steps_.stamps().size()));
    stamps = stamps.subspan(steps_.stamps().size());
  }
  for (DeviceWork& work : kernels_) {
    work.start_ns = clock_.host_ns(work.start_ns);
    work.end_ns = clock_.host_ns(work.end_ns);
    record_.work.push_back(work);
  }
  add_notes();
  return std::move(record_);
}

void GpuWatch::add_notes() {
  size_t together = 0;
  size_t others = 0;
  for (const Stretch& stretch : steps_.stretches()) {
    if (stretch.count > 1) together += stretch.count;
  }
  for (const RecordedNode& node : steps_.nodes()) others += node.place < 0 ? 1 : 0;
  const auto micro = [](int64_t nanoseconds) { return 1e-3 * static_cast<double>(nanoseconds); };
  record_.notes.push_back(fmt::format(
      "kernels were timed by their own stamps of the GPU's timer, not by CUPTI (--cupti): from the first "
      "block's first instruction to the last block's last one; the host's clock is known to {:.1f} us",
      micro(clock_.uncertainty_ns())));
  if (early_ns_ > 0 && !kernels_.empty())
    record_.notes.push_back(fmt::format(
        "a kernel that was let in before the one ahead had ended counts from that end on; on average they "
        "began {:.1f} us earlier",
        micro(early_ns_) / static_cast<double>(kernels_.size())));
  if (record_.work.size() > kernels_.size())
    record_.notes.push_back(
        fmt::format("copies were timed by the host, from the call to the end of the wait, less the {:.1f} us "
                    "(to the GPU) "
                    "and {:.1f} us (from it) that one of 8 bytes takes",
                    micro(to_device_ns_), micro(to_host_ns_)));
  if (others > 0)
    record_.notes.push_back(fmt::format(
        "{} of {} launches of a run are of libraries: they count from the end of what ran before them to the "
        "beginning of what ran after, gaps of about 1 us included",
        others, steps_.nodes().size()));
  if (together > 0)
    record_.notes.push_back(fmt::format(
        "{} launches of a run were timed together with others of their step; the first stands for all",
        together));
}

std::unique_ptr<GpuWatch> watch_steps(Gpu& gpu, const Stream& stream,
                                      const std::vector<engine::ProgramStep>& steps,
                                      const StepRunner& run_step, std::function<void()> at_end) {
  try {
    return std::make_unique<GpuWatch>(gpu, stream, steps, run_step, std::move(at_end));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInternal) throw;
    return nullptr;
  }
}

}  // namespace hone::device::cuda
