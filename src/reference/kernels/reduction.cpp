// Reference kernels of the reduction family: Reduce*, and the list. The other members are in softmax.cpp and
// ranking.cpp.
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/compute.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// Axes to reduce; empty if each element is reduced by itself.
std::vector<int64_t> reduced_axes(const KernelContext& context) {
  const int64_t rank = context.input(0).rank();
  std::vector<int64_t> axes;
  if (context.has_input(1)) axes = distinct_axes(context.input(1).to_int64(), rank);
  if (!axes.empty() || context.attributes().get_int("noop_with_empty_axes") != 0) return axes;
  axes.resize(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// The shape with length 1 along the axes.
Shape kept_shape(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept = shape;
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  return kept;
}

Shape without_axes(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<bool> dropped(shape.size(), false);
  for (const int64_t axis : axes) dropped[static_cast<size_t>(axis)] = true;
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!dropped[i]) result.push_back(shape[i]);
  }
  return result;
}

/// Combines with f all elements of x that belong to each element of the result, which has shape `kept`.
template <class T, class F>
Tensor fold(const Tensor& x, const Shape& kept, T start, F&& f) {
  Tensor result(x.dtype(), kept);
  const auto out = result.mutable_values<T>();
  for (T& element : out) element = start;
  const T* in = x.values<T>().data();
  walk<1>(x.shape(), {tensor::broadcast_strides(kept, x.shape())}, {0}, [&](const auto& at) {
    T& element = out[static_cast<size_t>(at[0])];
    element = f(element, *in++);
  });
  return result;
}

struct Sum {
  template <class T>
  Tensor operator()(const Tensor& x, const Shape& kept) const {
    return fold<T>(x, kept, T{0}, [](T a, T b) { return add(a, b); });
  }
};

struct Product {
  template <class T>
  Tensor operator()(const Tensor& x, const Shape& kept) const {
    return fold<T>(x, kept, T{1}, [](T a, T b) { return multiply(a, b); });
  }
};

struct Maximum {
  template <class T>
  Tensor operator()(const Tensor& x, const Shape& kept) const {
    using Limits = std::numeric_limits<T>;
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return fold<T>(x, kept, lowest, [](T a, T b) { return a != a || a > b ? a : b; });
  }
};

struct Minimum {
  template <class T>
  Tensor operator()(const Tensor& x, const Shape& kept) const {
    using Limits = std::numeric_limits<T>;
    const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    return fold<T>(x, kept, highest, [](T a, T b) { return a != a || a < b ? a : b; });
  }
};

struct SumOfSquares {
  template <class T>
  Tensor operator()(const Tensor& x, const Shape& kept) const {
    return fold<T>(x, kept, T{0}, [](T a, T b) { return add(a, multiply(b, b)); });
  }
};

struct SumOfAbsolutes {
  template <class T>
  Tensor operator()(const Tensor& x, const Shape& kept) const {
    return fold<T>(x, kept, T{0}, [](T a, T b) { return b < 0 ? subtract(a, b) : add(a, b); });
  }
};

/// Output 0 is `f(shape with the reduced axes at length 1)`, without these axes unless `keepdims` is set.
template <class F>
void finish(KernelContext& context, F&& f) {
  const Tensor& input = context.input(0);
  const auto axes = reduced_axes(context);
  const Tensor result = f(kept_shape(input.shape(), axes)).cast(input.dtype());
  const bool keep = context.attributes().get_int("keepdims") != 0;
  context.outputs[0] = keep ? result : result.reshaped(without_axes(result.shape(), axes));
}

/// A reduction in the compute type of the input.
template <class F>
void reduce(KernelContext& context) {
  const Tensor& input = context.input(0);
  finish(context, [&](const Shape& kept) {
    Tensor result = visit_compute(
        input.dtype(), [&]<class T>() { return F().template operator()<T>(widened(input), kept); });
    if (input.dtype() == DType::kBool) {
      // The maximum of no elements is the lowest integer here, and must be false as a bool.
      for (int64_t& element : result.mutable_values<int64_t>()) element = element > 0 ? 1 : 0;
    }
    return result;
  });
}

struct Mean {
  static Tensor run(const Tensor& x, const Shape& kept) {
    Tensor sum = Sum().operator()<double>(x, kept);
    const double count = static_cast<double>(x.size()) / static_cast<double>(sum.size());
    for (double& element : sum.mutable_values<double>()) element /= count;
    return sum;
  }
};

struct Norm {
  static Tensor run(const Tensor& x, const Shape& kept) {
    Tensor sum = SumOfSquares().operator()<double>(x, kept);
    for (double& element : sum.mutable_values<double>()) element = std::sqrt(element);
    return sum;
  }
};

struct LogSum {
  static Tensor run(const Tensor& x, const Shape& kept) {
    Tensor sum = Sum().operator()<double>(x, kept);
    for (double& element : sum.mutable_values<double>()) element = std::log(element);
    return sum;
  }
};

/// log(sum(exp(x - max))) + max, which cannot overflow.
struct LogSumExp {
  static Tensor run(const Tensor& x, const Shape& kept) {
    const Tensor maximum = Maximum().operator()<double>(x, kept);
    Tensor sum(DType::kFloat64, kept);
    const auto out = sum.mutable_values<double>();
    for (double& element : out) element = 0;
    const double* in = x.values<double>().data();
    // An infinite maximum cannot be subtracted: inf - inf is NaN.
    const auto shift = [&](size_t i) {
      return std::isinf(maximum.values<double>()[i]) ? 0 : maximum.values<double>()[i];
    };
    walk<1>(x.shape(), {tensor::broadcast_strides(kept, x.shape())}, {0}, [&](const auto& at) {
      const auto i = static_cast<size_t>(at[0]);
      out[i] += std::exp(*in++ - shift(i));
    });
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::log(out[i]) + shift(i);
    return sum;
  }
};

/// A reduction in double, whatever the input's type.
template <class F>
void reduce_floating(KernelContext& context) {
  finish(context, [&](const Shape& kept) { return F::run(context.input(0).cast(DType::kFloat64), kept); });
}

constexpr KernelEntry kKernels[] = {
    {"ReduceL1", reduce<SumOfAbsolutes>},
    {"ReduceL2", reduce_floating<Norm>},
    {"ReduceLogSum", reduce_floating<LogSum>},
    {"ReduceLogSumExp", reduce_floating<LogSumExp>},
    {"ReduceMax", reduce<Maximum>},
    {"ReduceMean", reduce_floating<Mean>},
    {"ReduceMin", reduce<Minimum>},
    {"ReduceProd", reduce<Product>},
    {"ReduceSum", reduce<Sum>},
    {"ReduceSumSquare", reduce<SumOfSquares>},
};

}  // namespace

std::span<const KernelEntry> reduction_kernels() {
  static const auto kAll = join_parts({kKernels, softmax_kernels(), ranking_kernels()});
  return kAll;
}

}  // namespace hone::reference
