// Rules that decide whether an operator processes batch entries independently (OperatorDef::keeps_batch).
#pragma once

#include "graph/operator.hpp"

namespace hone::graph {

/// The operator processes each entry of the first dimension independently.
inline bool keeps_batch_always(const Graph&, const Node&, int64_t) { return true; }
/// Gemm and its fused form: rows of the first operand are batch entries unless it is transposed.
inline bool keeps_batch_of_rows(const Graph&, const Node& node, int64_t) {
  return node.attributes.get_int("transA") == 0;
}
/// The operator works along its attribute 'axis', which must not be the first axis.
bool keeps_batch_off_axis(const Graph& graph, const Node& node, int64_t rank);
/// The operator works along the axes that a constant input lists, which must not include the first. Axes of
/// Squeeze refer to its input, those of Slice and Unsqueeze to the output.
bool keeps_batch_off_axes(const Graph& graph, const Node& node, int64_t rank);

}  // namespace hone::graph
