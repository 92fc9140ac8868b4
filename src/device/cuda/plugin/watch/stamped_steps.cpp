// See stamped_steps.hpp.
#include "device/cuda/plugin/watch/stamped_steps.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/plugin/kernels/common/clock_echo.hpp"

namespace hone::device::cuda {
namespace {

/// Assigns stamps to launches, and records which node of the capture has which stamp.
class Places final : public StampSource {
 public:
  /// Without memory, the launches are only counted.
  Places(const Stream& stream, KernelStamp* stamps) : stream_(stream), stamps_(stamps) {}

  KernelStamp* next() override {
    nodes_.push_back(recorded_nodes(stream_));
    return at(take());
  }

  int64_t take() { return taken_++; }
  KernelStamp* at(int64_t place) const { return stamps_ == nullptr ? nullptr : stamps_ + place; }
  int64_t taken() const { return taken_; }

  /// Appends the nodes that were recorded from `first` on.
  void note_step(size_t step, size_t first, int64_t first_place, std::vector<RecordedNode>& nodes) {
    size_t own = 0;
    for (size_t chain = first; chain < recorded_nodes(stream_); ++chain) {
      const bool stamped = own < nodes_.size() && nodes_[own] == chain;
      nodes.push_back({step, chain, stamped ? first_place + static_cast<int64_t>(own++) : -1});
    }
    nodes_.clear();
  }

 private:
  const Stream& stream_;
  KernelStamp* stamps_;
  std::vector<size_t> nodes_;  ///< launches of the current step
  int64_t taken_ = 0;
};

/// Small kernels that record when earlier work had ended.
class Marks {
 public:
  explicit Marks(const Stream& stream) : stream_(stream), side_(Stream::Priority::kHighest) {}

  void add(Mark mark, uint64_t* time) {
    const bool beside = mark == Mark::kBeside;
    if (beside) follow(side_, stream_);
    check(launch_time(time, (beside ? side_ : stream_).get()), "a launch");
    branched_ = branched_ || beside;
  }
  /// Makes the following work wait for all marks.
  void join() {
    if (std::exchange(branched_, false)) follow(stream_, side_);
  }

 private:
  void follow(const Stream& later, const Stream& earlier) const {
    check(cudaEventRecord(fork_.get(), earlier.get()), "an event");
    check(cudaStreamWaitEvent(later.get(), fork_.get()), "an event");
  }

  const Stream& stream_;
  Stream side_;
  Event fork_;
  bool branched_ = false;
};

struct Recording {
  std::vector<RecordedNode> nodes;
  std::vector<int64_t> marks;
  int64_t places = 0;
};

/// Called while the stream captures; `wanted` is the result of find_marks(). `marks` must outlive the
/// capture.
Recording record(const Stream& stream, const std::vector<Mark>& wanted, Marks& marks, KernelStamp* stamps,
                 const StepRunner& run_step) {
  Recording result;
  Places places(stream, stamps);
  const auto mark = [&](size_t step) {
    const bool marked = wanted[step] != Mark::kNone;
    result.marks.push_back(marked ? places.take() : -1);
    if (marked) marks.add(wanted[step], &places.at(result.marks.back())->begin);
  };
  const size_t steps = wanted.size() - 1;
  for (size_t step = 0; step < steps; ++step) {
    mark(step);
    const size_t first = recorded_nodes(stream);
    const int64_t first_place = places.taken();
    run_step(step, &places);
    places.note_step(step, first, first_place, result.nodes);
  }
  mark(steps);
  marks.join();
  result.places = places.taken();
  return result;
}

}  // namespace

StampedSteps::StampedSteps(GpuMemory& memory, const Stream& stream, size_t steps,
                           const StepRunner& run_step) {
  // Records first without memory, to find the steps that record their own times.
  Marks marks(stream);
  Recording recording;
  const Graph trial(stream, [&] {
    recording = record(stream, std::vector<Mark>(steps + 1, Mark::kNone), marks, nullptr, run_step);
  });
  chain_ = describe_chain(trial);
  nodes_ = std::move(recording.nodes);
  for (RecordedNode& node : nodes_) node.early = chain_[node.chain].launch.programmatic;
  const std::vector<Mark> wanted = find_marks(nodes_, steps);
  places_ = recording.places +
            std::count_if(wanted.begin(), wanted.end(), [](Mark mark) { return mark != Mark::kNone; });
  const auto bytes = places_ * static_cast<int64_t>(sizeof(KernelStamp));
  stamps_ = DeviceBytes(memory, bytes);
  clear(stamps_);
  collected_.emplace(bytes);
  auto* const stamps = reinterpret_cast<KernelStamp*>(stamps_.data());
  const Graph graph(stream, [&] {
    recording = record(stream, wanted, marks, stamps, run_step);
    check(launch_collect(stamps, static_cast<int>(places_),
                         reinterpret_cast<KernelStamp*>(collected_->data()), stream.get()),
          "a launch");
  });
  if (recording.nodes.size() != nodes_.size()) fail_internal("the steps recorded other nodes this time");
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].place = recording.nodes[i].place;
  stretches_ = find_stretches(nodes_, recording.marks);
  instance_ = std::make_unique<CapturedGraph>(stream, graph);
}

}  // namespace hone::device::cuda
