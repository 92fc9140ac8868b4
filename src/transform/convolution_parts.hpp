// Convolutions as parts of a larger node, for the passes that fuse several.
#pragma once

#include <string>
#include <vector>

#include "transform/fusion.hpp"

namespace hone::transform {

/// Whether the node is a convolution with constant filters of that shape.
bool is_convolution(const Graph& graph, const Node& node, const tensor::Shape& wanted);

/// Whether each value is the expected one.
bool all_are(const std::vector<int64_t>& values, int64_t expected);

/// Whether a node has no post-ops, or one that is a Relu or Clip, behind `from` others.
bool ends_with_bounds(const PostOps& post_ops, size_t from);

/// Why a convolution with constant filters, which keeps the size of its image, cannot be a part; empty when
/// it can. `from` post-ops are an addition that belongs.
std::string part_refusal(const Graph& graph, const Node& node, size_t from);

/// Gives `fused` the post-ops of a part, `from` others left out, in attributes of that prefix.
void set_activation(Node& fused, const std::string& prefix, const Node& convolution, size_t from);

}  // namespace hone::transform
