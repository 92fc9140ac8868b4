// See shape.hpp.
#include "tensor/shape.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace hone::tensor {

int64_t element_count(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0) fail_bad_input("negative dimension {} in a shape", dim);
    count = base::checked_mul(count, dim);
  }
  return count;
}

Shape row_major_strides(std::span<const int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Shape broadcast_shapes(std::span<const int64_t> a, std::span<const int64_t> b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t da = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const int64_t db = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (da != db && da != 1 && db != 1) {
      fail_bad_input("shapes {} and {} do not broadcast", shape_text(a), shape_text(b));
    }
    result[i] = da == 1 ? db : da;
  }
  return result;
}

Shape broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to) {
  if (from.size() > to.size()) {
    fail_bad_input("shape {} does not broadcast to {}", shape_text(from), shape_text(to));
  }
  const Shape own = row_major_strides(from);
  Shape strides(to.size(), 0);
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i + shift]) {
      strides[i + shift] = from[i] == 1 ? 0 : own[i];
    } else if (from[i] != 1) {
      fail_bad_input("shape {} does not broadcast to {}", shape_text(from), shape_text(to));
    }
  }
  return strides;
}

bool is_row(std::span<const int64_t> shape, int64_t columns) {
  return !shape.empty() && shape.back() == columns && element_count(shape) == columns;
}

std::string shape_text(std::span<const int64_t> shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape, "x"));
}

int64_t normalize_axis(int64_t axis, int64_t rank, const char* what) {
  if (axis < -rank || axis >= rank) fail_bad_input("{} {} is outside rank {}", what, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace hone::tensor
