// Reference kernels that create tensors from a few numbers.
#include <cmath>
#include <cstring>

#include "reference/compute.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// The only element of input i.
template <class T>
T single(const KernelContext& context, size_t i) {
  const Tensor x = widened(context.input(i));
  if (x.size() != 1) fail_bad_input("input {} has {} elements, expected one", i, x.size());
  return x.values<T>()[0];
}

/// max(0, ceil((limit - start) / delta)).
template <class T>
int64_t range_length(T start, T limit, T delta) {
  if (delta == 0) fail_bad_input("input 'delta' is 0");
  if constexpr (std::is_same_v<T, double>) {
    const double count = std::ceil((limit - start) / delta);
    if (!(count < 0x1p62)) fail_bad_input("the range has too many elements");
    return count > 0 ? static_cast<int64_t>(count) : 0;
  } else {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    const __int128 distance = static_cast<__int128>(limit) - start;
    const __int128 count = (distance + delta - (delta > 0 ? 1 : -1)) / delta;
    if (count > INT64_MAX) fail_bad_input("the range has too many elements");
    return static_cast<int64_t>(count);
  }
}

void range(KernelContext& context) {
  const DType dtype = context.input(0).dtype();
  visit_compute(dtype, [&]<class T>() {
    const T start = single<T>(context, 0);
    const T delta = single<T>(context, 2);
    const int64_t length = range_length(start, single<T>(context, 1), delta);
    Tensor y(compute_dtype(dtype), {length});
    for (int64_t i = 0; i < length; ++i) {
      y.mutable_values<T>()[static_cast<size_t>(i)] = add(start, multiply(static_cast<T>(i), delta));
    }
    context.outputs[0] = y.cast(dtype);
  });
}

void constant_of_shape(KernelContext& context) {
  const auto& value = context.attributes().get<Tensor>("value");
  if (value.size() != 1) fail_bad_input("attribute 'value' has {} elements, expected one", value.size());
  Shape shape = context.input(0).to_int64();
  const View repeated{0, Shape(shape.size(), 0)};
  context.outputs[0] = gathered(value, repeated, std::move(shape));
}

void eye_like(KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() != 2) fail_bad_input("input has rank {}, expected 2", x.rank());
  const auto dtype =
      static_cast<DType>(context.attributes().get_or<int64_t>("dtype", static_cast<int64_t>(x.dtype())));
  const int64_t k = context.attributes().get_int("k");
  Tensor y(DType::kInt8, x.shape());
  const int64_t columns = x.shape()[1];
  for (int64_t i = 0; i < y.size(); ++i) {
    y.mutable_values<int8_t>()[static_cast<size_t>(i)] = i % columns - i / columns == k ? 1 : 0;
  }
  context.outputs[0] = y.cast(dtype);
}

void trilu(KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() < 2) fail_bad_input("input has rank {}, expected at least 2", x.rank());
  const bool upper = context.attributes().get_int("upper") != 0;
  const int64_t k = context.has_input(1) ? single<int64_t>(context, 1) : 0;
  Tensor y = x.clone();
  const size_t size = tensor::dtype_size(x.dtype());
  const int64_t rows = x.shape()[x.shape().size() - 2];
  const int64_t columns = x.shape().back();
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t diagonal = i % columns - i / columns % rows;
    if (upper ? diagonal < k : diagonal > k)
      std::memset(y.mutable_bytes() + static_cast<size_t>(i) * size, 0, size);
  }
  context.outputs[0] = std::move(y);
}

constexpr KernelEntry kKernels[] = {
    {"ConstantOfShape", constant_of_shape},
    {"EyeLike", eye_like},
    {"Range", range},
    {"Trilu", trilu},
};

}  // namespace

std::span<const KernelEntry> generator_kernels() { return kKernels; }

}  // namespace hone::reference
