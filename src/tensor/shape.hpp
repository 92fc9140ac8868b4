// Concrete tensor shapes and index arithmetic on them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hone::tensor {

using Shape = std::vector<int64_t>;

/// Product of the dimensions (1 for a scalar); bad input for a negative dimension or an overflow.
int64_t element_count(std::span<const int64_t> shape);
/// Row-major strides in elements.
Shape row_major_strides(std::span<const int64_t> shape);
/// Broadcasts two shapes as numpy does; bad input if they are incompatible.
Shape broadcast_shapes(std::span<const int64_t> a, std::span<const int64_t> b);
/// Strides with which `from` is read as `to` (0 where a dimension is repeated); `from` must be broadcastable
/// to `to`.
Shape broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to);
/// True if the shape has one element per column: `columns` elements, all along the last axis.
bool is_row(std::span<const int64_t> shape, int64_t columns);
/// "1x3x224x224"; "scalar" for rank 0.
std::string shape_text(std::span<const int64_t> shape);
/// Converts an axis in [-rank, rank) to [0, rank); bad input that names `what` if it is out of range.
int64_t normalize_axis(int64_t axis, int64_t rank, const char* what = "axis");

}  // namespace hone::tensor
