// See stamped_steps.hpp.
#include "device/cuda/plugin/stamped_steps.hpp"

#include <algorithm>

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

struct Recording {
  std::vector<RecordedNode> nodes;
  std::vector<int64_t> marks;
  int64_t places = 0;
};

/// To be called while the stream captures; `marks` as find_marks() says.
Recording record(const Stream& stream, const std::vector<bool>& marks, KernelStamp* stamps,
                 const std::function<void(size_t)>& run_step) {
  Recording result;
  Places places(stream, stamps);
  const auto mark = [&](size_t step) {
    result.marks.push_back(marks[step] ? places.take() : -1);
    if (marks[step]) check(launch_time(&places.at(result.marks.back())->begin, stream.get()), "a launch");
  };
  const size_t steps = marks.size() - 1;
  for (size_t step = 0; step < steps; ++step) {
    mark(step);
    const size_t first = recorded_nodes(stream);
    const int64_t first_place = places.taken();
    run_step(step);
    places.note_step(step, first, first_place, result.nodes);
  }
  mark(steps);
  result.places = places.taken();
  return result;
}

}  // namespace

StampedSteps::StampedSteps(const Stream& stream, size_t steps, const std::function<void(size_t)>& run_step) {
  // First without memory, to see which steps stamp themselves.
  std::vector<bool> marks(steps + 1);
  int64_t places = 0;
  const Graph trial(stream, [&] {
    const Recording recording = record(stream, marks, nullptr, run_step);
    marks = find_marks(recording.nodes, steps);
    places = recording.places;
  });
  places += std::count(marks.begin(), marks.end(), true);
  const auto bytes = places * static_cast<int64_t>(sizeof(KernelStamp));
  stamps_ = DeviceBytes(bytes);
  clear(stamps_);
  collected_.emplace(bytes);
  auto* const stamps = reinterpret_cast<KernelStamp*>(stamps_.data());
  Recording recording;
  const Graph graph(stream, [&] {
    recording = record(stream, marks, stamps, run_step);
    check(launch_collect(stamps, static_cast<int>(places), reinterpret_cast<KernelStamp*>(collected_->data()),
                         stream.get()),
          "a launch");
  });
  nodes_ = std::move(recording.nodes);
  stretches_ = find_stretches(nodes_, recording.marks);
  chain_ = describe_chain(graph);
  instance_ = std::make_unique<CapturedGraph>(stream, graph);
}

uint64_t StampedSteps::time(const Moment& moment) const {
  const KernelStamp& stamp = reinterpret_cast<const KernelStamp*>(collected_->data())[moment.place];
  return moment.end ? stamp.end : stamp.begin;
}

}  // namespace hone::device::cuda
