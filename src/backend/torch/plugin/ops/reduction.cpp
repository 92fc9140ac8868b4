// Reductions, arg-reductions, sorting and running sums as ATen calls.
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "backend/torch/plugin/compat.hpp"
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

using Axes = std::vector<int64_t>;
using Reduce = at::Tensor (*)(const at::Tensor& x, const Axes& axes, bool keep);

/// Sums in the type of x, because PyTorch would sum small integers in int64.
at::Tensor sum(const at::Tensor& x, const Axes& axes, bool keep) {
  return at::sum(x, axes, keep, x.scalar_type());
}
at::Tensor mean(const at::Tensor& x, const Axes& axes, bool keep) { return at::mean(x, axes, keep); }
at::Tensor maximum(const at::Tensor& x, const Axes& axes, bool keep) { return at::amax(x, axes, keep); }
at::Tensor minimum(const at::Tensor& x, const Axes& axes, bool keep) { return at::amin(x, axes, keep); }
at::Tensor product(const at::Tensor& x, const Axes& axes, bool keep) {
  Axes sorted = axes;
  for (int64_t& axis : sorted) axis += axis < 0 ? x.dim() : 0;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  at::Tensor result = x;
  for (const int64_t axis : sorted) result = at::prod(result, axis, keep, x.scalar_type());
  return result;
}
at::Tensor l1(const at::Tensor& x, const Axes& axes, bool keep) { return sum(x.abs(), axes, keep); }
at::Tensor sum_square(const at::Tensor& x, const Axes& axes, bool keep) { return sum(x.mul(x), axes, keep); }
at::Tensor l2(const at::Tensor& x, const Axes& axes, bool keep) { return sum_square(x, axes, keep).sqrt(); }
at::Tensor log_sum(const at::Tensor& x, const Axes& axes, bool keep) { return sum(x, axes, keep).log(); }
at::Tensor log_sum_exp(const at::Tensor& x, const Axes& axes, bool keep) {
  return at::logsumexp(x, axes, keep);
}

Axes every_axis(const at::Tensor& x) {
  Axes axes(static_cast<size_t>(x.dim()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

template <Reduce kReduce>
Operation reduction(const Lowering& lowering) {
  const bool keep = lowering.attributes().get_int("keepdims") != 0;
  const bool empty_is_none = lowering.attributes().get_int("noop_with_empty_axes") != 0;
  const Ints axes = lowering.has(1) ? lowering.ints(1) : Ints::none();
  return single([=](const Arguments& in) {
    const Axes given = axes.get(in);
    if (!given.empty()) return kReduce(in[0], given, keep);
    // Reduces each element by itself, because ATen takes an empty list to mean all axes.
    if (empty_is_none) return kReduce(in[0].unsqueeze(-1), {in[0].dim()}, false);
    return kReduce(in[0], every_axis(in[0]), keep);
  });
}

template <at::Tensor (*kFind)(const at::Tensor&, Optional<int64_t>, bool)>
Operation arg_reduction(const Lowering& lowering) {
  const int64_t axis = lowering.attributes().get_int("axis");
  const bool keep = lowering.attributes().get_int("keepdims") != 0;
  if (lowering.attributes().get_int("select_last_index") == 0) {
    return single([=](const Arguments& in) { return kFind(in[0], axis, keep); });
  }
  return single([=](const Arguments& in) {
    return kFind(in[0].flip(axis), axis, keep).neg().add(in[0].size(axis) - 1);
  });
}

/// PyTorch's topk does not define the order of equal elements; ONNX requires the lower index first.
Operation top_k(const Lowering& lowering) {
  const int64_t axis = lowering.attributes().get_int("axis");
  const bool largest = lowering.attributes().get_int("largest") != 0;
  return [axis, largest, count = lowering.ints(1)](Arguments& in) {
    auto [values, indices] = at::sort(in[0], /*stable=*/Optional<bool>(true), axis, largest);
    const int64_t k = count.get(in).at(0);
    in.set(1, indices.narrow(axis, 0, k));
    in.set(0, values.narrow(axis, 0, k));
  };
}

Operation running_sum(const Lowering& lowering) {
  const bool exclusive = lowering.attributes().get_int("exclusive") != 0;
  const bool reverse = lowering.attributes().get_int("reverse") != 0;
  return single([exclusive, reverse, axes = lowering.ints(1)](const Arguments& in) {
    const int64_t axis = axes.get(in).at(0);
    const at::Tensor x = reverse ? in[0].flip(axis) : in[0];
    at::Tensor y = at::cumsum(x, axis, x.scalar_type());
    if (exclusive) y = y.sub(x);
    return reverse ? y.flip(axis) : y;
  });
}

constexpr LowerEntry kLowerings[] = {
    {"ArgMax", arg_reduction<at::argmax>},
    {"ArgMin", arg_reduction<at::argmin>},
    {"CumSum", running_sum},
    {"ReduceL1", reduction<l1>},
    {"ReduceL2", reduction<l2>},
    {"ReduceLogSum", reduction<log_sum>},
    {"ReduceLogSumExp", reduction<log_sum_exp>},
    {"ReduceMax", reduction<maximum>},
    {"ReduceMean", reduction<mean>},
    {"ReduceMin", reduction<minimum>},
    {"ReduceProd", reduction<product>},
    {"ReduceSum", reduction<sum>},
    {"ReduceSumSquare", reduction<sum_square>},
    {"TopK", top_k},
};

}  // namespace

std::span<const LowerEntry> reduction_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
