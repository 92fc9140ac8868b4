// See tensor_view.hpp.
#include "tensor/tensor_view.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace hone::tensor {

TensorView view_of(const Tensor& tensor) {
  auto owner = std::make_shared<const Tensor>(tensor);
  TensorView view{.dtype = tensor.dtype(), .shape = tensor.shape(), .read_only = true};
  view.buffer = {.data = const_cast<std::byte*>(tensor.bytes()),
                 .bytes = static_cast<int64_t>(tensor.byte_size()),
                 .owner = std::move(owner)};
  return view;
}

bool is_row_major(const TensorView& view) {
  if (view.strides.empty()) return true;
  if (element_count(view.shape) == 0) return true;
  int64_t expected = 1;
  for (size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return true;
}

int64_t extent(const TensorView& view, const std::string& name) {
  const auto size = static_cast<int64_t>(dtype_size(view.dtype));
  if (!view.strides.empty() && view.strides.size() != view.shape.size())
    fail_usage("{} has {} strides for {} dimensions", name, view.strides.size(), view.shape.size());
  int64_t bytes = 0;
  try {
    const int64_t count = element_count(view.shape);
    int64_t last = count == 0 ? -1 : view.strides.empty() ? count - 1 : 0;
    for (size_t d = 0; count > 0 && d < view.strides.size(); ++d) {
      if (view.strides[d] < 0) fail_usage("{} has a negative stride ({})", name, view.strides[d]);
      last = base::checked_add(last, base::checked_mul(view.strides[d], view.shape[d] - 1));
    }
    bytes = base::checked_mul(last + 1, size);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUsage) throw;
    fail_usage("{} of shape {} is larger than any memory", name, shape_text(view.shape));
  }
  if (bytes > view.buffer.bytes)
    fail_usage("{} takes {} bytes of a buffer of {}", name, bytes, view.buffer.bytes);
  if (bytes > 0 && view.data() == nullptr) fail_usage("{} has no memory", name);
  return bytes;
}

bool overlaps(const Buffer& a, const Buffer& b) {
  if (a.place != b.place || a.data == nullptr || b.data == nullptr) return false;
  const std::less<const std::byte*> before;
  return before(a.data, b.data + b.bytes) && before(b.data, a.data + a.bytes);
}

namespace {

/// Copies the dimensions from `axis` on, with elements of `kBytes`; returns the next destination. A caller's
/// memory need not be aligned.
template <size_t kBytes>
std::byte* copy_axis(const std::byte* from, const Shape& strides, std::byte* to, const Shape& shape,
                     size_t axis) {
  if (axis == shape.size()) {
    std::memcpy(to, from, kBytes);
    return to + kBytes;
  }
  if (axis + 1 == shape.size() && strides[axis] == 1) {
    const size_t bytes = static_cast<size_t>(shape[axis]) * kBytes;
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (int64_t i = 0; i < shape[axis]; ++i) {
    to = copy_axis<kBytes>(from, strides, to, shape, axis + 1);
    from += strides[axis] * static_cast<int64_t>(kBytes);
  }
  return to;
}

}  // namespace

void copy_strided(const std::byte* from, const Shape& strides, std::byte* to, const Shape& shape,
                  DType dtype) {
  if (element_count(shape) == 0) return;
  switch (dtype_size(dtype)) {
    case 1: copy_axis<1>(from, strides, to, shape, 0); break;
    case 2: copy_axis<2>(from, strides, to, shape, 0); break;
    case 4: copy_axis<4>(from, strides, to, shape, 0); break;
    default: copy_axis<8>(from, strides, to, shape, 0);
  }
}

}  // namespace hone::tensor
