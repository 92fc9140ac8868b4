// See batch_rules.hpp.
#include "graph/operators/batch_rules.hpp"

#include <algorithm>

#include "tensor/shape.hpp"

namespace hone::graph {

bool keeps_batch_off_axis(const Graph&, const Node& node, int64_t rank) {
  return tensor::normalize_axis(node.attributes.get_int("axis"), rank) != 0;
}

bool keeps_batch_off_axes(const Graph& graph, const Node& node, int64_t rank) {
  const size_t input = node.op == "Slice" ? 3 : 1;
  const Tensor* axes = node.has_input(input) ? graph.constant(node.inputs[input]) : nullptr;
  if (axes == nullptr) return false;
  // A negative axis of Squeeze counts from the end of the input, whose rank differs from the output's.
  const bool counts_in_output = node.op != "Squeeze";
  const std::vector<int64_t> named = axes->to_int64();
  return std::all_of(named.begin(), named.end(), [&](int64_t axis) {
    return axis > 0 || (axis < 0 && counts_in_output && axis > -rank);
  });
}

}  // namespace hone::graph
