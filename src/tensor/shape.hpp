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
/// numpy's broadcasting of two shapes; bad input when they do not broadcast.
Shape broadcast_shapes(std::span<const int64_t> a, std::span<const int64_t> b);
/// Strides of `from` seen as `to` (0 where a dimension is repeated); `from` must broadcast to `to`.
Shape broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to);
/// True if it holds one value per column: `columns` elements, all along the last axis.
bool is_row(std::span<const int64_t> shape, int64_t columns);
/// "1x3x224x224"; "scalar" for rank 0.
std::string shape_text(std::span<const int64_t> shape);
/// An axis in [-rank, rank) as one in [0, rank); bad input naming `what` when it is outside.
int64_t normalize_axis(int64_t axis, int64_t rank, const char* what = "axis");

}  // namespace hone::tensor
