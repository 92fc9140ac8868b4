// Reference kernels that read elements by index.
#include <cstring>

#include "reference/kernels/index_tuples.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

void gather(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  const int64_t axis = tensor::normalize_axis(context.attributes().get_int("axis"), x.rank());
  const AxisSplit split = split_at(x.shape(), axis);
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  auto positions = indices.to_int64();
  for (int64_t& position : positions) position = checked_index(position, split.length);
  const size_t row = static_cast<size_t>(split.inner) * tensor::dtype_size(x.dtype());
  std::byte* out = y.mutable_bytes();
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (const int64_t position : positions) {
      if (row > 0)
        std::memcpy(out, x.bytes() + static_cast<size_t>(outer * split.length + position) * row, row);
      out += row;
    }
  }
}

void gather_elements(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  Tensor& y = context.make_output(0, x.dtype(), indices.shape());
  const size_t size = tensor::dtype_size(x.dtype());
  std::byte* out = y.mutable_bytes();
  for_each_element_index(x.shape(), indices, context.attributes().get_int("axis"), [&](int64_t offset) {
    std::memcpy(out, x.bytes() + static_cast<size_t>(offset) * size, size);
    out += size;
  });
}

void gather_nd(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  const IndexTuples tuples(x.shape(), indices, context.attributes().get_int("batch_dims"));
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), tuples.slice_shape().begin(), tuples.slice_shape().end());
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  const size_t size = tensor::dtype_size(x.dtype());
  const size_t slice = static_cast<size_t>(tuples.slice_size()) * size;
  std::byte* out = y.mutable_bytes();
  for (const int64_t offset : tuples.offsets()) {
    if (slice > 0) std::memcpy(out, x.bytes() + static_cast<size_t>(offset) * size, slice);
    out += slice;
  }
}

constexpr KernelEntry kKernels[] = {
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
};

}  // namespace

std::span<const KernelEntry> gather_kernels() { return kKernels; }

}  // namespace hone::reference
