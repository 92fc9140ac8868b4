// See stamp_plan.hpp.
#include "device/cuda/plugin/watch/stamp_plan.hpp"

namespace hone::device::cuda {

std::vector<Mark> find_marks(const std::vector<RecordedNode>& nodes, size_t steps) {
  std::vector<Mark> marks(steps + 1, Mark::kNone);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].place >= 0) continue;
    if (i == 0) {
      marks[nodes[i].step] = Mark::kBetween;
    } else if (nodes[i - 1].place < 0 && nodes[i - 1].step != nodes[i].step) {
      marks[nodes[i].step] = nodes[i].early ? Mark::kBetween : Mark::kBeside;
    }
    if (i + 1 == nodes.size()) marks[steps] = Mark::kBeside;
  }
  return marks;
}

std::vector<Stretch> find_stretches(const std::vector<RecordedNode>& nodes,
                                    const std::vector<int64_t>& marks) {
  std::vector<Stretch> result;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const RecordedNode& node = nodes[i];
    const bool after_other = i > 0 && nodes[i - 1].place < 0;
    if (node.place < 0 && after_other && nodes[i - 1].step == node.step) {
      ++result.back().count;
      continue;
    }
    const Moment mark{marks[node.step], false};
    if (after_other) result.back().stop = node.place < 0 ? mark : Moment{node.place, false};
    if (node.place >= 0) {
      result.push_back({i, 1, {node.place, false}, {node.place, true}});
    } else {
      const bool first = i == 0 || after_other;
      result.push_back({i, 1, first ? mark : Moment{nodes[i - 1].place, true}, {marks.back(), false}});
    }
  }
  return result;
}

uint64_t time_of(const Moment& moment, std::span<const KernelStamp> stamps) {
  const KernelStamp& stamp = stamps[static_cast<size_t>(moment.place)];
  return moment.end ? stamp.end : stamp.begin;
}

std::vector<double> step_times(const std::vector<RecordedNode>& nodes, const std::vector<Stretch>& stretches,
                               std::span<const KernelStamp> stamps, size_t steps) {
  std::vector<double> times(steps, 0.0);
  if (stretches.empty()) return times;
  uint64_t before = time_of(stretches.front().start, stamps);
  for (const Stretch& stretch : stretches) {
    const uint64_t end = time_of(stretch.stop, stamps);
    if (end <= before) continue;
    times[nodes[stretch.first].step] += static_cast<double>(end - before) / 1000;
    before = end;
  }
  return times;
}

}  // namespace hone::device::cuda
