// How DepthToSpace and SpaceToDepth move the pixels of an image (ONNX operator specifications, opset 13).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/attribute.hpp"

namespace hone::graph {

/// The output's elements in the order in which they lie: dimensions, and the distance in the input of two
/// elements that are neighbours along each.
struct ImageBlocks {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// Describes DepthToSpace of an input [N, C, H, W] that fits the attributes; with `channels_last` input and
/// output lie as [N, H, W, C].
ImageBlocks depth_to_space_blocks(const Attributes& attributes, std::span<const int64_t> x,
                                  bool channels_last);
ImageBlocks space_to_depth_blocks(const Attributes& attributes, std::span<const int64_t> x,
                                  bool channels_last);

}  // namespace hone::graph
