// Loops of elementwise kernels: one input is mapped, or two inputs are broadcast to a common shape.
#pragma once

#include "reference/compute.hpp"
#include "reference/kernel.hpp"
#include "reference/strided.hpp"

namespace hone::reference {

/// Output 0 is f(double) of every element of input 0, a tensor of any type except bool.
template <class F>
void map_double(KernelContext& context, F&& f) {
  const Tensor x = context.input(0).cast(DType::kFloat64);
  Tensor y(DType::kFloat64, x.shape());
  const auto in = x.values<double>();
  const auto out = y.mutable_values<double>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = f(in[i]);
  context.outputs[0] = y.cast(context.input(0).dtype());
}

/// Output 0 is f of every element of input 0 in its compute type, converted back.
template <class F>
void map_compute(KernelContext& context, F&& f) {
  const Tensor x = widened(context.input(0));
  Tensor y(x.dtype(), x.shape());
  visit_compute(x.dtype(), [&]<class T>() {
    const auto in = x.values<T>();
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < in.size(); ++i) out[i] = f(in[i]);
  });
  context.outputs[0] = y.cast(context.input(0).dtype());
}

/// f(a, b) for all elements of two tensors of T broadcast against each other, as a tensor of R.
template <class T, class R, class F>
Tensor broadcast(const Tensor& a, const Tensor& b, F&& f) {
  Tensor result(tensor::DTypeOf<R>::value, tensor::broadcast_shapes(a.shape(), b.shape()));
  const auto in_a = a.values<T>();
  const auto in_b = b.values<T>();
  const auto out = result.mutable_values<R>();
  size_t next = 0;
  walk<2>(result.shape(),
          {tensor::broadcast_strides(a.shape(), result.shape()),
           tensor::broadcast_strides(b.shape(), result.shape())},
          {0, 0}, [&](const auto& at) {
            out[next++] = f(in_a[static_cast<size_t>(at[0])], in_b[static_cast<size_t>(at[1])]);
          });
  return result;
}

/// Throws bad input unless both tensors have the same element type.
inline void require_same_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail_bad_input("inputs have types {} and {}", tensor::dtype_name(a.dtype()), tensor::dtype_name(b.dtype()));
}

/// f(a, b) in their compute type, converted back to their element type.
template <class F>
Tensor broadcast_compute(const Tensor& a, const Tensor& b, F&& f) {
  require_same_dtype(a, b);
  return visit_compute(a.dtype(), [&]<class T>() { return broadcast<T, T>(widened(a), widened(b), f); })
      .cast(a.dtype());
}

}  // namespace hone::reference
