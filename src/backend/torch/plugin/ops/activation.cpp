// Activation functions as the same ATen calls that torch.nn's modules make.
#include <ATen/ops/clamp.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/where.h>

#include "backend/torch/plugin/compat.hpp"
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

template <at::Tensor (*kCall)(const at::Tensor&)>
Operation unary(const Lowering&) {
  return single([](const Arguments& in) { return kCall(in[0]); });
}

Operation softplus(const Lowering&) {
  return single([](const Arguments& in) { return at::softplus(in[0]); });
}

Operation leaky_relu(const Lowering& lowering) {
  return single([alpha = lowering.attributes().get_float("alpha")](const Arguments& in) {
    return at::leaky_relu(in[0], alpha);
  });
}

Operation elu(const Lowering& lowering) {
  return single([alpha = lowering.attributes().get_float("alpha")](const Arguments& in) {
    return at::elu(in[0], alpha);
  });
}

Operation selu(const Lowering& lowering) {
  return single([alpha = lowering.attributes().get_float("alpha"),
                 gamma = lowering.attributes().get_float("gamma")](const Arguments& in) {
    return at::elu(in[0], alpha, gamma);
  });
}

/// Celu(x) = max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
Operation celu(const Lowering& lowering) {
  return single([alpha = lowering.attributes().get_float("alpha")](const Arguments& in) {
    return at::elu(in[0], alpha, 1.0, 1.0 / alpha);
  });
}

Operation prelu(const Lowering&) {
  return single([](const Arguments& in) { return at::where(in[0].lt(0), at::mul(in[0], in[1]), in[0]); });
}

Operation gelu(const Lowering& lowering) {
  return single([approximate = lowering.attributes().get_string("approximate")](const Arguments& in) {
    return at::gelu(in[0], approximate);
  });
}

/// max(0, min(1, alpha * x + beta)); torch.nn.Hardsigmoid has alpha = 1/6 and beta = 1/2.
Operation hard_sigmoid(const Lowering& lowering) {
  const float alpha = lowering.attributes().get_float("alpha");
  const float beta = lowering.attributes().get_float("beta");
  if (alpha == 1.0f / 6.0f && beta == 0.5f) return unary<at::hardsigmoid>(lowering);
  return single(
      [alpha, beta](const Arguments& in) { return at::clamp(in[0].mul(alpha).add(beta), 0.0, 1.0); });
}

template <at::Tensor (*kCall)(const at::Tensor&, int64_t, Optional<at::ScalarType>)>
Operation along_axis(const Lowering& lowering) {
  return single(
      [axis = lowering.attributes().get_int("axis")](const Arguments& in) { return kCall(in[0], axis, {}); });
}

/// Bound i as a number; nullopt if absent. Sets `computed` if it is known only at run time.
Optional<at::Scalar> known_bound(const Lowering& lowering, size_t i, bool& computed) {
  if (!lowering.has(i)) return {};
  const tensor::Tensor* bound = lowering.constant(i);
  if (bound == nullptr) {
    computed = true;
    return {};
  }
  if (tensor::is_floating(bound->dtype())) return at::Scalar(bound->to_double().at(0));
  return at::Scalar(bound->to_int64().at(0));
}

Operation clip(const Lowering& lowering) {
  bool computed = false;
  const auto low = known_bound(lowering, 1, computed);
  const auto high = known_bound(lowering, 2, computed);
  if (computed) {
    return single([](const Arguments& in) {
      at::Tensor result = in[0];
      if (in.has(1)) result = at::clamp(result, Optional<at::Tensor>(in[1]));
      if (in.has(2)) result = at::clamp(result, Optional<at::Tensor>(), Optional<at::Tensor>(in[2]));
      return result;
    });
  }
  if (!low && !high) return single([](const Arguments& in) { return in[0]; });
  const bool floating = c10::isFloatingType(lowering.output_type(0));
  if (floating && low && high && low->toDouble() == 0 && high->toDouble() == 6) {  // torch.nn.ReLU6
    return single([](const Arguments& in) { return at::hardtanh(in[0], 0.0, 6.0); });
  }
  return single([low, high](const Arguments& in) { return at::clamp(in[0], low, high); });
}

constexpr LowerEntry kLowerings[] = {
    {"Celu", celu},
    {"Clip", clip},
    {"Elu", elu},
    {"Gelu", gelu},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", unary<at::hardswish>},
    {"LeakyRelu", leaky_relu},
    {"LogSoftmax", along_axis<at::log_softmax>},
    {"Mish", unary<at::mish>},
    {"PRelu", prelu},
    {"Relu", unary<at::relu>},
    {"Selu", selu},
    {"Sigmoid", unary<at::sigmoid>},
    {"Softmax", along_axis<at::softmax>},
    {"Softplus", softplus},
};

}  // namespace

std::span<const LowerEntry> activation_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
