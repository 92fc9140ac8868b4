// Operators that make tensors from numbers, shapes or conditions.
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <limits>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

Operation shape(const Lowering& lowering) {
  const int64_t start = lowering.attributes().get_int("start");
  const int64_t end = lowering.attributes().get_or<int64_t>("end", std::numeric_limits<int64_t>::max());
  return single([start, end](const Arguments& in) {
    const int64_t rank = in[0].dim();
    const auto position = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
    const auto sizes = in[0].sizes();
    const std::vector<int64_t> part(sizes.begin() + position(start),
                                    sizes.begin() + std::max(position(start), position(end)));
    return literal(part, in[0].device());
  });
}

Operation size(const Lowering&) {
  return single([](const Arguments& in) { return literal({in[0].numel()}, in[0].device()).squeeze(0); });
}

at::Scalar scalar_of(const tensor::Tensor& tensor) {
  if (tensor::is_floating(tensor.dtype())) return at::Scalar(tensor.to_double().at(0));
  return at::Scalar(tensor.to_int64().at(0));
}

Operation constant_of_shape(const Lowering& lowering) {
  const bool given = lowering.attributes().has("value");
  const at::Scalar value = given ? scalar_of(lowering.attributes().get<tensor::Tensor>("value")) : 0;
  const auto options = at::TensorOptions().dtype(lowering.output_type(0)).device(lowering.device());
  return single([value, options, wanted = lowering.ints(0)](const Arguments& in) {
    return at::full(wanted.get(in), value, options);
  });
}

/// Returns start, start + delta, ... below limit.
Operation range(const Lowering& lowering) {
  const auto options = at::TensorOptions().dtype(lowering.output_type(0)).device(lowering.device());
  const tensor::Tensor *start = lowering.constant(0), *limit = lowering.constant(1),
                       *delta = lowering.constant(2);
  if (start != nullptr && limit != nullptr && delta != nullptr) {
    return single([=, a = scalar_of(*start), b = scalar_of(*limit), d = scalar_of(*delta)](const Arguments&) {
      return at::arange(a, b, d, options);
    });
  }
  if (lowering.traced) lowering.refuse("its bounds are computed from data, which a trace would freeze");
  return single([options](const Arguments& in) {
    return at::arange(in[0].item(), in[1].item(), in[2].item(), options);
  });
}

/// PyTorch returns positions as rows, ONNX as columns.
Operation non_zero(const Lowering&) {
  return single([](const Arguments& in) { return at::nonzero(in[0]).t(); });
}

Operation triangle(const Lowering& lowering) {
  const bool upper = lowering.attributes().get_int("upper") != 0;
  const Ints diagonal = lowering.has(1) ? lowering.ints(1) : Ints::of({0});
  return single([upper, diagonal](const Arguments& in) {
    const int64_t k = diagonal.get(in).at(0);
    return upper ? at::triu(in[0], k) : at::tril(in[0], k);
  });
}

/// values[1] where the coordinate on the new axis equals the index (negative ones count from the end);
/// values[0] elsewhere.
Operation one_hot(const Lowering& lowering) {
  const int64_t axis = lowering.attributes().get_int("axis");
  return single([axis, depths = lowering.ints(1)](const Arguments& in) {
    const int64_t depth = depths.get(in).at(0);
    const at::Tensor wide = in[0].to(at::kLong);
    const at::Tensor indices = at::where(wide.lt(0), wide.add(depth), wide).unsqueeze(axis);
    std::vector<int64_t> shape(static_cast<size_t>(indices.dim()), 1);
    shape[static_cast<size_t>(axis < 0 ? axis + indices.dim() : axis)] = depth;
    const at::Tensor hit = indices.eq(at::arange(depth, wide.options()).view(shape));
    return at::where(hit, in[2].select(0, 1), in[2].select(0, 0));
  });
}

constexpr LowerEntry kLowerings[] = {
    {"ConstantOfShape", constant_of_shape},
    {"NonZero", non_zero},
    {"OneHot", one_hot},
    {"Range", range},
    {"Shape", shape},
    {"Size", size},
    {"Trilu", triangle},
};

}  // namespace

std::span<const LowerEntry> creation_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
