// The parts of the shape family, one file each, and functions that their rules share.
#pragma once

#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

/// Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Shape, Size, DepthToSpace, SpaceToDepth
void add_layout_operators(std::vector<OperatorDef>& table);
/// Concat, Split, Slice, Pad, Expand, Tile, CenterCropPad
void add_region_operators(std::vector<OperatorDef>& table);
/// Gather*, Scatter*, Compress, Unique, NonZero, OneHot, ReverseSequence
void add_indexing_operators(std::vector<OperatorDef>& table);
/// Range, ConstantOfShape, EyeLike, Trilu
void add_generator_operators(std::vector<OperatorDef>& table);

/// `rank` unknown dimensions.
Dims unknown_dims(int64_t rank);
/// Rank of a value whose shape is the data of input i; nullopt if the length of that input is unknown.
std::optional<int64_t> described_rank(const InferenceContext& context, size_t i);
/// Returns the common size of two dimensions that must be equal; bad input if they are known to differ.
Dim unify(const InferenceContext& context, const Dim& a, const Dim& b, std::string_view what);

}  // namespace hone::graph
