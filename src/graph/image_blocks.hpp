// How DepthToSpace and SpaceToDepth move the pixels of an image (ONNX operator specifications, opset 13).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/attribute.hpp"

namespace hone::graph {

/// The elements of the output in memory order: the dimensions and, for each, the distance in the input
/// between two elements that are neighbours along it.
struct ImageBlocks {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// Describes DepthToSpace of an input [N, C, H, W] that fits the attributes; with `channels_last`, the memory
/// order of input and output is [N, H, W, C].
ImageBlocks depth_to_space_blocks(const Attributes& attributes, std::span<const int64_t> x,
                                  bool channels_last);
ImageBlocks space_to_depth_blocks(const Attributes& attributes, std::span<const int64_t> x,
                                  bool channels_last);

}  // namespace hone::graph
