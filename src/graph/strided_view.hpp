// Values that are other values seen differently: what transpositions, slices and their kind pick, as one
// offset and a few strides.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// One loop over elements that lie `stride` apart.
struct StridedLoop {
  int64_t length = 1;
  int64_t stride = 0;
};

/// The elements of a value, as they lie in the plain `base`, from element `offset` on.
struct StridedView {
  ValueId base = kNoValue;
  int64_t offset = 0;
  /// For each dimension its loops, the innermost last; none for a length of 1.
  std::vector<std::vector<StridedLoop>> dimensions;
  /// The nodes between base and value, in the order they run: indices into Graph::nodes.
  std::vector<int32_t> nodes;

  tensor::Shape shape() const;
  /// The stride by which one loop walks a dimension, 0 if its length is 1; nullopt if it needs several loops.
  std::optional<int64_t> stride(size_t dimension) const;
  /// Offsets in the base of the indices of the first `count` dimensions, in row-major order.
  std::vector<int64_t> leading_offsets(size_t count) const;
};

/// A plain tensor of that shape.
StridedView plain_view(ValueId base, const tensor::Shape& shape);

/// The value as a view of the value furthest up that it can be a view of: through Transpose, Reshape,
/// Flatten, Squeeze, Unsqueeze, Expand, Slice, Split and Gather of one index. The base is the value itself
/// where its maker is none of these, or picks what no strides can say. Symbols in shapes stand for some
/// lengths that differ from each other; a value of a shape with an unknown dimension is its own base, without
/// dimensions.
StridedView strided_view(const Graph& graph, const Links& links, ValueId id);

/// Repeats the view's elements as numpy's broadcasting to `shape` does; false where it does not broadcast.
bool broadcast_view(StridedView& view, const tensor::Shape& shape);

/// The view with `shape` for its shape, which has the same number of elements; false where no loops describe
/// that.
bool reshape_view(StridedView& view, const tensor::Shape& shape);

/// Splits the loops of that dimension, which is equally long in all views, so that all views have loops of
/// the same lengths; false where the lengths of none divide those of another.
bool align_loops(const std::vector<StridedView*>& views, size_t dimension);

}  // namespace hone::graph
