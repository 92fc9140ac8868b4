// Elementwise operators with one input as ATen calls.
#include <ATen/ops/abs.h>
#include <ATen/ops/acos.h>
#include <ATen/ops/acosh.h>
#include <ATen/ops/asin.h>
#include <ATen/ops/asinh.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/atanh.h>
#include <ATen/ops/bitwise_not.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cosh.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sinh.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/tanh.h>

#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

template <at::Tensor (*kCall)(const at::Tensor&)>
Operation unary(const Lowering&) {
  return single([](const Arguments& in) { return kCall(in[0]); });
}

Operation identity(const Lowering&) {
  return single([](const Arguments& in) { return in[0]; });
}

/// For inference only: returns the input itself, and a mask that drops nothing.
Operation dropout(const Lowering& lowering) {
  if (lowering.has(2)) {
    const tensor::Tensor* training = lowering.constant(2);
    if (training == nullptr || training->to_int64().at(0) != 0) lowering.refuse("it may be in training mode");
  }
  return [](Arguments& in) {
    in.set(1, at::ones(in[0].sizes(), in[0].options().dtype(at::kBool)));
    in.set(0, in[0]);
  };
}

Operation cast(const Lowering& lowering) {
  return single([type = lowering.output_type(0)](const Arguments& in) { return in[0].to(type); });
}

constexpr LowerEntry kLowerings[] = {
    {"Abs", unary<at::abs>},
    {"Acos", unary<at::acos>},
    {"Acosh", unary<at::acosh>},
    {"Asin", unary<at::asin>},
    {"Asinh", unary<at::asinh>},
    {"Atan", unary<at::atan>},
    {"Atanh", unary<at::atanh>},
    {"BitwiseNot", unary<at::bitwise_not>},
    {"Cast", cast},
    {"CastLike", cast},
    {"Ceil", unary<at::ceil>},
    {"Cos", unary<at::cos>},
    {"Cosh", unary<at::cosh>},
    {"Dropout", dropout},
    {"Erf", unary<at::erf>},
    {"Exp", unary<at::exp>},
    {"Floor", unary<at::floor>},
    {"Identity", identity},
    {"IsNaN", unary<at::isnan>},
    {"Log", unary<at::log>},
    {"Neg", unary<at::neg>},
    {"Not", unary<at::logical_not>},
    {"Reciprocal", unary<at::reciprocal>},
    {"Round", unary<at::round>},
    {"Sign", unary<at::sign>},
    {"Sin", unary<at::sin>},
    {"Sinh", unary<at::sinh>},
    {"Sqrt", unary<at::sqrt>},
    {"Tan", unary<at::tan>},
    {"Tanh", unary<at::tanh>},
};

}  // namespace

std::span<const LowerEntry> unary_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
