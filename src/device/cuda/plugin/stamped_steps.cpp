// See stamped_steps.hpp.
#include "device/cuda/plugin/stamped_steps.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/plugin/kernels/clock_echo.hpp"

namespace hone::device::cuda {
namespace {

/// Hands out places, and notes which node of the capture gets which.
class Places final : public StampSource {
 public:
  /// Without memory the launches are only counted.
  Places(const Stream& stream, KernelStamp* stamps) : stream_(stream), stamps_(stamps) {
    set_stamp_source(this);
  }
  ~Places() override { set_stamp_source(nullptr); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

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
  std::vector<size_t> nodes_;  ///< of the launches of the present step
  int64_t taken_ = 0;
};

/// Small kernels beside the steps that tell when what was handed over before them had ended. A branch of the
/// graph costs the steps 0.2 us each time; between them, such a kernel costs more than 1.
class Marks {
 public:
  explicit Marks(const Stream& stream) : stream_(stream), side_(Stream::Priority::kHighest) {}

  void add(uint64_t* time) {
    follow(side_, stream_);
    check(launch_time(time, side_.get()), "a launch");
    used_ = true;
  }
  /// Lets what comes next wait for all of them.
  void join() {
    if (std::exchange(used_, false)) follow(stream_, side_);
  }

 private:
  void follow(const Stream& later, const Stream& earlier) const {
    check(cudaEventRecord(fork_.get(), earlier.get()), "an event");
    check(cudaStreamWaitEvent(later.get(), fork_.get()), "an event");
  }

  const Stream& stream_;
  Stream side_;
  Event fork_;
  bool used_ = false;
};

struct Recording {
  std::vector<RecordedNode> nodes;
  std::vector<int64_t> marks;
  int64_t places = 0;
};

/// To be called while the stream captures; `wanted` as find_marks() says. `marks` must outlive the capture.
Recording record(const Stream& stream, const std::vector<bool>& wanted, Marks& marks, KernelStamp* stamps,
                 const std::function<void(size_t)>& run_step) {
  Recording result;
  Places places(stream, stamps);
  const auto mark = [&](size_t step) {
    result.marks.push_back(wanted[step] ? places.take() : -1);
    if (wanted[step]) marks.add(&places.at(result.marks.back())->begin);
  };
  const size_t steps = wanted.size() - 1;
  for (size_t step = 0; step < steps; ++step) {
    mark(step);
    const size_t first = recorded_nodes(stream);
    const int64_t first_place = places.taken();
    run_step(step);
    places.note_step(step, first, first_place, result.nodes);
  }
  mark(steps);
  marks.join();
  result.places = places.taken();
  return result;
}

}  // namespace

StampedSteps::StampedSteps(const Stream& stream, size_t steps, const std::function<void(size_t)>& run_step) {
  // First without memory, to see which steps stamp themselves.
  std::vector<bool> wanted(steps + 1);
  int64_t places = 0;
  Marks marks(stream);
  const Graph trial(stream, [&] {
    Recording recording = record(stream, wanted, marks, nullptr, run_step);
    wanted = find_marks(recording.nodes, steps);
    places = recording.places;
    nodes_ = std::move(recording.nodes);
  });
  chain_ = describe_chain(trial);
  places += std::count(wanted.begin(), wanted.end(), true);
  const auto bytes = places * static_cast<int64_t>(sizeof(KernelStamp));
  stamps_ = DeviceBytes(bytes);
  clear(stamps_);
  collected_.emplace(bytes);
  auto* const stamps = reinterpret_cast<KernelStamp*>(stamps_.data());
  Recording recording;
  const Graph graph(stream, [&] {
    recording = record(stream, wanted, marks, stamps, run_step);
    check(launch_collect(stamps, static_cast<int>(places), reinterpret_cast<KernelStamp*>(collected_->data()),
                         stream.get()),
          "a launch");
  });
  if (recording.nodes.size() != nodes_.size()) fail_internal("the steps recorded other nodes this time");
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].place = recording.nodes[i].place;
  stretches_ = find_stretches(nodes_, recording.marks);
  instance_ = std::make_unique<CapturedGraph>(stream, graph);
}

uint64_t StampedSteps::time(const Moment& moment) const {
  const KernelStamp& stamp = reinterpret_cast<const KernelStamp*>(collected_->data())[moment.place];
  return moment.end ? stamp.end : stamp.begin;
}

}  // namespace hone::device::cuda
