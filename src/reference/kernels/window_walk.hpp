// Walks over the windows of a pool: every output position of a plane with the input elements that it reads.
#pragma once

#include <vector>

#include "graph/convolution_geometry.hpp"

namespace hone::reference {

/// Advances `index` in the box of `ranges` in row-major order; false after the last index.
inline bool next_index(std::vector<int64_t>& index, const std::vector<graph::Range>& ranges) {
  for (size_t i = ranges.size(); i-- > 0;) {
    if (++index[i] < ranges[i].end) return true;
    index[i] = ranges[i].begin;
  }
  return false;
}

/// Calls element(offset in the plane, position per axis) for each input element under the window at
/// `output`; padding is skipped. Returns the number of elements visited.
template <class Element>
int64_t visit_window(const std::vector<graph::WindowAxis>& axes, const std::vector<int64_t>& output,
                     Element&& element) {
  std::vector<graph::Range> taps;
  std::vector<int64_t> tap;
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    taps.push_back(graph::taps_inside(axes[i], output[i]));
    tap.push_back(taps.back().begin);
    count *= taps.back().size();
  }
  if (count == 0) return 0;
  std::vector<int64_t> position(axes.size());
  do {
    int64_t offset = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      position[i] = axes[i].position(output[i], tap[i]);
      offset = offset * axes[i].input + position[i];
    }
    element(offset, position);
  } while (next_index(tap, taps));
  return count;
}

/// Calls visit(flat output index, output position per axis) for each output position of a plane.
template <class Visit>
void visit_outputs(const std::vector<graph::WindowAxis>& axes, Visit&& visit) {
  std::vector<graph::Range> outputs;
  int64_t count = 1;
  for (const graph::WindowAxis& axis : axes) {
    outputs.push_back({0, axis.output});
    count *= axis.output;
  }
  std::vector<int64_t> output(axes.size(), 0);
  for (int64_t flat = 0; flat < count; ++flat) {
    visit(flat, output);
    next_index(output, outputs);
  }
}

}  // namespace hone::reference
