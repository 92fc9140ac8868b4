// Runs a program on the GPU: all steps as one captured CUDA graph, or as several graphs between steps that
// the host computes.
#include "device/cuda/plugin/execution/cuda_executor.hpp"

#include <array>
#include <chrono>
#include <cstring>

#include "base/ranges.hpp"
#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/execution/bound_runs.hpp"
#include "device/cuda/plugin/execution/overlapped_runs.hpp"
#include "device/cuda/plugin/execution/program_steps.hpp"
#include "device/cuda/plugin/execution/step_graphs.hpp"
#include "device/cuda/plugin/watch/gpu_watch.hpp"
#include "device/cuda/plugin/watch/stamped_steps.hpp"

namespace hone::device::cuda {
namespace {

using engine::Program;
using tensor::Tensor;

/// Inputs and outputs that belong to the executor, and the steps bound to them.
struct OwnIo {
  explicit OwnIo(const ProgramSteps& steps)
      : io(steps.program().graph(), steps.gpu().memory()),
        bound(steps.program(), steps.memory(), addresses_of(io)) {}

  DeviceIo io;
  BoundSteps bound;
};

class CudaExecutor final : public engine::Executor {
 public:
  /// The GPU must be current.
  CudaExecutor(const Program& program, Gpu& gpu) : program_(program), gpu_(gpu), steps_(program, gpu) {}

  void upload(std::span<const Tensor> inputs) override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].byte_size() == 0) continue;
      std::memcpy(pinned().inputs[i].data(), inputs[i].bytes(), inputs[i].byte_size());
      copy(first().io.inputs[i].data(), pinned().inputs[i].data(), inputs[i].byte_size(),
           cudaMemcpyHostToDevice);
    }
    synchronize();
  }

  void execute(std::vector<double>* step_times) override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    latest_ = &first().io;
    if (step_times != nullptr) {
      execute_stepwise(*step_times);
    } else if (awaits_steps_) {
      execute_in_ranges();
    } else if (host_steps()) {
      run_stretches();
    } else if (watch_ != nullptr) {
      watch_->launch_steps();
    } else {
      steps_graph().launch(stream_);
    }
    synchronize();
  }

  void submit(bool transfers) override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    if (transfers && !host_steps()) {
      latest_ = &overlapped_runs().submit();
      return;
    }
    latest_ = &first().io;
    const Event& done = done_[submissions_ % done_.size()];
    if (submissions_ >= done_.size()) check(cudaEventSynchronize(done.get()), "the GPU work");
    if (transfers) copy_inputs();
    if (host_steps()) {
      run_stretches();
    } else {
      steps_graph().launch(stream_);
    }
    if (transfers) copy_outputs();
    check(cudaEventRecord(done.get(), stream_.get()), "an event");
    ++submissions_;
  }

  void finish() override {
    const DeviceGuard guard(gpu_.context());
    if (overlapped_runs_ != nullptr) overlapped_runs_->finish();
    stream_.synchronize();
    submissions_ = 0;
  }

  engine::PhaseTimes time_phases(bool cold) override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    engine::PhaseTimes times;
    times.h2d_us = timed([this] { copy_inputs(); });
    if (!host_steps()) bracketed_graph();  // made here because making it runs the steps
    if (cold) gpu_.evict_l2();
    times.device_us = device_time();
    times.d2h_us = timed([this] { copy_outputs(); });
    const auto start = std::chrono::steady_clock::now();
    submit(false);
    const std::chrono::duration<double, std::micro> enqueue = std::chrono::steady_clock::now() - start;
    finish();
    times.enqueue_us = enqueue.count();
    return times;
  }

  engine::ExecutionTimes execute_timed() override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    latest_ = &first().io;
    if (host_steps()) {
      const auto start = std::chrono::steady_clock::now();
      execute(nullptr);
      const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
      return {elapsed.count(), 0};
    }
    const CapturedGraph& graph = steps_graph();
    check(cudaEventRecord(begin_.get(), stream_.get()), "an event");
    const auto start = std::chrono::steady_clock::now();
    graph.launch(stream_);
    const std::chrono::duration<double, std::micro> enqueue = std::chrono::steady_clock::now() - start;
    check(cudaEventRecord(end_.get(), stream_.get()), "an event");
    stream_.synchronize();
    return {enqueue.count(), elapsed_us(begin_, end_)};
  }

  void poison() override {
    const DeviceGuard guard(gpu_.context());
    const auto fill = [this](const DeviceBytes& bytes) {
      if (bytes.size() != 0)
        check(cudaMemsetAsync(bytes.data(), kPoison, static_cast<size_t>(bytes.size()), stream_.get()),
              "a fill");
    };
    order_.begin(stream_.get());
    fill(steps_.memory().arena());
    fill(steps_.memory().scratch());
    for (const OwnIo* own : {&first(), second_.get()}) {
      if (own == nullptr) continue;
      for (const DeviceBytes& output : own->io.outputs) fill(output);
    }
    stream_.synchronize();
  }

  std::vector<Tensor> download() override {
    const DeviceGuard guard(gpu_.context());
    std::vector<Tensor> results = program_.make_outputs();
    copy_outputs();
    synchronize();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) results[i] = steps_.open_outputs()[i];
      if (results[i].byte_size() != 0 && first().io.outputs[i].size() != 0)
        std::memcpy(results[i].mutable_bytes(), pinned().outputs[i].data(), results[i].byte_size());
    }
    return results;
  }

  std::unique_ptr<engine::BoundRuns> bind(engine::IoAddresses io,
                                          std::vector<engine::InputCopy> copies) override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    if (!host_steps() && !has_run_) run_on_zeros();
    return std::make_unique<CudaBoundRuns>(steps_, order_, stream_, std::move(io), std::move(copies));
  }

  void await_steps(bool awaits) override { awaits_steps_ = awaits; }

  bool can_be_watched() override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    return make_stamped_steps();
  }

  std::unique_ptr<engine::DeviceWatch> watch() override {
    const DeviceGuard guard(gpu_.context());
    order_.begin(stream_.get());
    if (host_steps()) return nullptr;
    // Libraries load their kernels at the first use, which is forbidden during a capture.
    hand_over();
    stream_.synchronize();
    auto watch = watch_steps(gpu_, stream_, program_.steps(), step_runner(), [this] { watch_ = nullptr; });
    if (watch == nullptr) return nullptr;
    watch_ = watch.get();
    return watch;
  }

 private:
  /// Created on first use: runs on a caller's memory do not need it.
  OwnIo& first() {
    if (first_ == nullptr) first_ = std::make_unique<OwnIo>(steps_);
    return *first_;
  }
  const PinnedIo& pinned() {
    if (pinned_ == nullptr) pinned_ = std::make_unique<PinnedIo>(program_.graph());
    return *pinned_;
  }

  bool host_steps() const { return steps_.host_steps() > 0; }

  void hand_over() {
    steps_.run(first().bound, stream_.get());
    has_run_ = true;
  }

  /// Runs steps of which the host computes some. The first run submits them one by one, so that libraries
  /// load their kernels.
  void run_stretches() {
    if (!has_run_) return hand_over();
    if (step_graphs_ == nullptr) {
      stream_.synchronize();
      step_graphs_ = std::make_unique<StepGraphs>(steps_, first().bound, stream_);
    }
    step_graphs_->launch(stream_.get());
  }

  /// Range listeners get a time for every step, although no kernel records its own time.
  void execute_in_ranges() {
    for (size_t i = 0; i < first().bound.steps.size(); ++i) {
      const base::Range range(program_.steps()[i].name);
      steps_.run_step(i, first().bound, stream_.get());
      stream_.synchronize();
    }
    has_run_ = true;
  }

  /// Makes libraries load their kernels before a capture, where that is forbidden. It does not use the
  /// caller's memory, whose outputs must not change before a run.
  void run_on_zeros() {
    const OwnIo own(steps_);
    for (const DeviceBytes& input : own.io.inputs) {
      if (input.size() != 0) clear(input);
    }
    steps_.run(own.bound, stream_.get());
    stream_.synchronize();
    has_run_ = true;
  }

  StepRunner step_runner() {
    return [this](size_t step, StampSource* stamps) {
      steps_.run_step(step, first().bound, stream_.get(), stamps);
    };
  }

  auto copier(cudaMemcpyKind kind) const {
    return [this, kind](void* to, const void* from, size_t bytes) { copy(to, from, bytes, kind); };
  }
  void copy_inputs() { cuda::copy_inputs(pinned(), first().io, copier(cudaMemcpyHostToDevice)); }
  void copy_outputs() {
    cuda::copy_outputs(latest_ == nullptr ? first().io : *latest_, pinned(), copier(cudaMemcpyDeviceToHost));
  }

  void synchronize() const {
    if (watch_ != nullptr) return watch_->synchronize();
    stream_.synchronize();
  }

  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const {
    if (watch_ != nullptr) return watch_->copy(to, from, bytes, kind);
    if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "a copy");
  }

  /// Microseconds between events before and after the work that `enqueue` submits.
  template <class F>
  double timed(F&& enqueue) const {
    check(cudaEventRecord(begin_.get(), stream_.get()), "an event");
    enqueue();
    check(cudaEventRecord(end_.get(), stream_.get()), "an event");
    stream_.synchronize();
    return elapsed_us(begin_, end_);
  }

  /// Microseconds from the first to the last step; 0 if the host runs some steps.
  double device_time() {
    if (host_steps()) return 0;
    bracketed_graph().launch(stream_);
    stream_.synchronize();
    return elapsed_us(begin_, end_);
  }

  /// The steps between two events. Events around the launch of a graph would include the time from the host
  /// to the device.
  const CapturedGraph& bracketed_graph() {
    if (bracketed_graph_ == nullptr) {
      bracketed_graph_ = capture([this] {
        check(cudaEventRecordWithFlags(begin_.get(), stream_.get(), cudaEventRecordExternal), "an event");
        hand_over();
        check(cudaEventRecordWithFlags(end_.get(), stream_.get(), cudaEventRecordExternal), "an event");
      });
    }
    return *bracketed_graph_;
  }

  const CapturedGraph& steps_graph() {
    if (graph_ == nullptr) graph_ = capture([this] { hand_over(); });
    return *graph_;
  }

  OverlappedRuns& overlapped_runs() {
    if (overlapped_runs_ == nullptr) {
      steps_graph();
      second_ = std::make_unique<OwnIo>(steps_);
      second_graph_ = capture([this] { steps_.run(second_->bound, stream_.get()); });
      overlapped_runs_ = std::make_unique<OverlappedRuns>(
          stream_, pinned(),
          std::array{OverlappedRuns::Lane{&first().io, graph_.get()},
                     OverlappedRuns::Lane{&second_->io, second_graph_.get()}});
    }
    return *overlapped_runs_;
  }

  template <class F>
  std::unique_ptr<CapturedGraph> capture(F&& record) {
    // Run once without a capture: libraries load their kernels at the first use, which is forbidden during a
    // capture.
    hand_over();
    stream_.synchronize();
    return std::make_unique<CapturedGraph>(stream_, Graph(stream_, record));
  }

  /// Microseconds from the end of one step to the end of the next while steps overlap; kernels record their
  /// own times. If the host runs some steps or a library forks the stream, times are taken between events.
  void execute_stepwise(std::vector<double>& times) {
    if (!make_stamped_steps()) return execute_between_events(times);
    stamped_steps_->launch(stream_);
    stream_.synchronize();
    times = step_times(stamped_steps_->nodes(), stamped_steps_->stretches(), stamped_steps_->stamps(),
                       first().bound.steps.size());
  }

  /// Returns whether the steps can record their own times.
  bool make_stamped_steps() {
    if (host_steps() || stamped_steps_ != nullptr || forks_) return stamped_steps_ != nullptr;
    hand_over();  // for the same reason as in capture()
    stream_.synchronize();
    try {
      stamped_steps_ =
          std::make_unique<StampedSteps>(gpu_.memory(), stream_, first().bound.steps.size(), step_runner());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInternal) throw;
      forks_ = true;
    }
    return stamped_steps_ != nullptr;
  }

  void execute_between_events(std::vector<double>& times) {
    times.assign(first().bound.steps.size(), 0.0);
    while (step_events_.size() <= first().bound.steps.size()) step_events_.emplace_back();
    const auto record = [this](size_t i) {
      check(cudaEventRecord(step_events_[i].get(), stream_.get()), "an event");
    };
    for (size_t i = 0; i < first().bound.steps.size(); ++i) {
      record(i);
      steps_.run_step(i, first().bound, stream_.get());
    }
    record(first().bound.steps.size());
    stream_.synchronize();
    for (size_t i = 0; i < first().bound.steps.size(); ++i)
      times[i] = elapsed_us(step_events_[i], step_events_[i + 1]);
  }

  const Program& program_;
  Gpu& gpu_;
  Stream stream_;
  ProgramSteps steps_;
  StreamOrder order_{stream_};
  /// Null until first use.
  std::unique_ptr<PinnedIo> pinned_;
  std::unique_ptr<OwnIo> first_;
  Event begin_;
  Event end_;
  std::vector<Event> step_events_;
  std::unique_ptr<CapturedGraph> graph_;
  std::unique_ptr<StepGraphs> step_graphs_;
  /// For runs that overlap those of the first lane; null if none do.
  std::unique_ptr<OwnIo> second_;
  std::unique_ptr<CapturedGraph> second_graph_;
  std::unique_ptr<OverlappedRuns> overlapped_runs_;
  /// The outputs of the last run; null before it.
  const DeviceIo* latest_ = nullptr;
  /// True if the steps have run, so that libraries have loaded their kernels.
  bool has_run_ = false;
  std::unique_ptr<StampedSteps> stamped_steps_;
  bool awaits_steps_ = false;
  bool forks_ = false;  ///< the steps' graph is not a chain, so that steps cannot be stamped
  std::unique_ptr<CapturedGraph> bracketed_graph_;
  /// Not owned; null if nothing is watching.
  GpuWatch* watch_ = nullptr;
  /// One event for each submission in progress: one runs, and the next one waits for it.
  std::array<Event, 2> done_;
  size_t submissions_ = 0;
};

}  // namespace

std::unique_ptr<engine::Executor> make_cuda_executor(const Program& program, Gpu& gpu) {
  const DeviceGuard guard(gpu.context());
  return std::make_unique<CudaExecutor>(program, gpu);
}

}  // namespace hone::device::cuda
