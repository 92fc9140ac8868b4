// Values that are views of other values: the elements that transpositions, slices and similar operators
// select, described by one offset and a few strides.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// One loop over elements at a distance of `stride`.
struct StridedLoop {
  int64_t length = 1;
  int64_t stride = 0;
};

/// The positions of a value's elements in the row-major `base`, beginning at element `offset`.
struct StridedView {
  ValueId base = kNoValue;
  int64_t offset = 0;
  /// For each dimension its loops, the innermost last; none for a length of 1.
  std::vector<std::vector<StridedLoop>> dimensions;
  /// The nodes between base and value, in execution order: indices into Graph::nodes.
  std::vector<int32_t> nodes;

  tensor::Shape shape() const;
  /// The stride if one loop covers the dimension, 0 if its length is 1; nullopt if it needs several loops.
  std::optional<int64_t> stride(size_t dimension) const;
  /// Offsets in the base for all indices of the first `count` dimensions, in row-major order.
  std::vector<int64_t> leading_offsets(size_t count) const;
};

/// The view of a whole row-major tensor of this shape.
StridedView plain_view(ValueId base, const tensor::Shape& shape);

/// The value as a view of the earliest value possible, through Transpose, Reshape, Flatten, Squeeze,
/// Unsqueeze, Expand, Slice, Split and Gather of one index. The base is the value itself if another operator
/// produces it, or if strides cannot describe the elements that its producer selects. Each symbol in a shape
/// is treated as a different length. A value whose shape has an unknown dimension is its own base, without
/// dimensions.
StridedView strided_view(const Graph& graph, const Links& links, ValueId id);

/// Repeats the view's elements as numpy's broadcasting to `shape` does; false if it does not broadcast.
bool broadcast_view(StridedView& view, const tensor::Shape& shape);

/// Gives the view this shape, which has the same number of elements; false if loops cannot describe the
/// result.
bool reshape_view(StridedView& view, const tensor::Shape& shape);

/// Splits the loops of the dimension, which is equally long in all views, so that all views have loops of
/// the same lengths; false if two of the lengths do not divide each other.
bool align_loops(const std::vector<StridedView*>& views, size_t dimension);

}  // namespace hone::graph
