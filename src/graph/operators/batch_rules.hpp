// Rules by which an operator keeps the entries of a batch apart (OperatorDef::keeps_batch).
#pragma once

#include "graph/operator.hpp"

namespace hone::graph {

/// The operator works on each entry of the first dimension by itself.
inline bool keeps_batch_always(const Graph&, const Node&, int64_t) { return true; }
/// Gemm and its fused form: rows of the first operand are batch entries unless it is transposed.
inline bool keeps_batch_of_rows(const Graph&, const Node& node, int64_t) {
  return node.attributes.get_int("transA") == 0;
}
/// The operator works along its attribute 'axis', which must not be the first.
bool keeps_batch_off_axis(const Graph& graph, const Node& node, int64_t rank);
/// The operator works along the axes that a constant input names, which must not hold the first. Axes of
/// Squeeze count in its input, those of Slice and Unsqueeze in the output.
bool keeps_batch_off_axes(const Graph& graph, const Node& node, int64_t rank);

}  // namespace hone::graph
