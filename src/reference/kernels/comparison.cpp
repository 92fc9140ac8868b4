// Reference kernels of the elementwise family: comparisons, logic and Where.
#include <cstring>
#include <functional>

#include "reference/kernels/map.hpp"
#include "reference/kernels/parts.hpp"

namespace hone::reference {
namespace {

template <class F>
void compare(KernelContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  require_same_dtype(a, b);
  context.outputs[0] =
      visit_compute(a.dtype(), [&]<class T>() { return broadcast<T, bool>(widened(a), widened(b), F()); });
}

template <class F>
void combine(KernelContext& context) {
  context.outputs[0] = broadcast<bool, bool>(context.input(0), context.input(1), F());
}

void where(KernelContext& context) {
  const Tensor& condition = context.input(0);
  const Tensor& x = context.input(1);
  const Tensor& y = context.input(2);
  require_same_dtype(x, y);
  Shape shape = tensor::broadcast_shapes(condition.shape(), tensor::broadcast_shapes(x.shape(), y.shape()));
  Tensor& result = context.make_output(0, x.dtype(), std::move(shape));
  const auto strides = [&](const Tensor& t) { return tensor::broadcast_strides(t.shape(), result.shape()); };
  const size_t size = tensor::dtype_size(x.dtype());
  std::byte* out = result.mutable_bytes();
  walk<3>(result.shape(), {strides(condition), strides(x), strides(y)}, {0, 0, 0}, [&](const auto& at) {
    const bool first = condition.values<bool>()[static_cast<size_t>(at[0])];
    const std::byte* from =
        first ? x.bytes() + static_cast<size_t>(at[1]) * size : y.bytes() + static_cast<size_t>(at[2]) * size;
    std::memcpy(out, from, size);
    out += size;
  });
}

constexpr KernelEntry kKernels[] = {
    {"And", combine<std::logical_and<>>},  {"Equal", compare<std::equal_to<>>},
    {"Greater", compare<std::greater<>>},  {"GreaterOrEqual", compare<std::greater_equal<>>},
    {"Less", compare<std::less<>>},        {"LessOrEqual", compare<std::less_equal<>>},
    {"Or", combine<std::logical_or<>>},    {"Where", where},
    {"Xor", combine<std::not_equal_to<>>},
};

}  // namespace

std::span<const KernelEntry> comparison_kernels() { return kKernels; }

}  // namespace hone::reference
