// Reference kernels that write elements by index. If an index occurs twice, updates apply in order.
#include <cstring>

#include "reference/compute.hpp"
#include "reference/kernels/index_tuples.hpp"
#include "reference/kernels/parts.hpp"

namespace hone::reference {
namespace {

template <class T>
T combined(const std::string& reduction, T old, T update) {
  if (reduction == "add") return add(old, update);
  if (reduction == "mul") return multiply(old, update);
  if (reduction == "min") return update < old ? update : old;
  if (reduction == "max") return update > old ? update : old;
  fail_bad_input("attribute 'reduction' is '{}'", reduction);
}

/// Output 0 is input 0, in which the slices of `size` elements at these offsets are replaced by, or combined
/// with, those of input 2, which are in the same order.
void scatter(KernelContext& context, const std::vector<int64_t>& offsets, int64_t size) {
  const Tensor& data = context.input(0);
  const Tensor& updates = context.input(2);
  if (data.dtype() != updates.dtype()) {
    fail_bad_input("inputs have types {} and {}", tensor::dtype_name(data.dtype()),
                   tensor::dtype_name(updates.dtype()));
  }
  const std::string& reduction = context.attributes().get_string("reduction");
  if (reduction == "none") {
    Tensor result = data.clone();
    const size_t bytes = static_cast<size_t>(size) * tensor::dtype_size(data.dtype());
    for (size_t i = 0; i < offsets.size() && bytes > 0; ++i) {
      const size_t at = static_cast<size_t>(offsets[i]) * tensor::dtype_size(data.dtype());
      std::memcpy(result.mutable_bytes() + at, updates.bytes() + i * bytes, bytes);
    }
    context.outputs[0] = std::move(result);
    return;
  }
  visit_compute(data.dtype(), [&]<class T>() {
    Tensor result = widened(data).clone();
    const Tensor wide = widened(updates);
    const T* update = wide.values<T>().data();
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < size; ++i) {
        T& element = result.mutable_values<T>()[static_cast<size_t>(offset + i)];
        element = combined(reduction, element, *update++);
      }
    }
    context.outputs[0] = result.cast(data.dtype());
  });
}

void scatter_elements(KernelContext& context) {
  const Tensor& indices = context.input(1);
  if (indices.shape() != context.input(2).shape()) {
    fail_bad_input("indices of shape {} for updates of shape {}", tensor::shape_text(indices.shape()),
                   tensor::shape_text(context.input(2).shape()));
  }
  std::vector<int64_t> offsets;
  for_each_element_index(context.input(0).shape(), indices, context.attributes().get_int("axis"),
                         [&](int64_t offset) { offsets.push_back(offset); });
  scatter(context, offsets, 1);
}

void scatter_nd(KernelContext& context) {
  const Tensor& indices = context.input(1);
  const IndexTuples tuples(context.input(0).shape(), indices, 0);
  Shape expected(indices.shape().begin(), indices.shape().end() - 1);
  expected.insert(expected.end(), tuples.slice_shape().begin(), tuples.slice_shape().end());
  if (context.input(2).shape() != expected) {
    fail_bad_input("updates have shape {}, expected {}", tensor::shape_text(context.input(2).shape()),
                   tensor::shape_text(expected));
  }
  scatter(context, tuples.offsets(), tuples.slice_size());
}

constexpr KernelEntry kKernels[] = {{"ScatterElements", scatter_elements}, {"ScatterND", scatter_nd}};

}  // namespace

std::span<const KernelEntry> scatter_kernels() { return kKernels; }

}  // namespace hone::reference
