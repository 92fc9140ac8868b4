// Elementwise operators with several inputs as ATen calls. PyTorch broadcasts like numpy and ONNX.
#include <ATen/ops/add.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/bitwise_xor.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/fmod.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/logical_xor.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

using Call = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

template <Call kCall>
Operation binary(const Lowering&) {
  return single([](const Arguments& in) { return kCall(in[0], in[1]); });
}

/// Folds any number of inputs from the left.
template <Call kCall>
Operation variadic(const Lowering&) {
  return single([](const Arguments& in) {
    at::Tensor result = in[0];
    for (size_t i = 1; i < in.size(); ++i) result = kCall(result, in[i]);
    return result;
  });
}

at::Tensor add_tensors(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }

Operation add(const Lowering&) {
  return single([](const Arguments& in) { return at::add(in[0], in[1]); });
}

Operation subtract(const Lowering&) {
  return single([](const Arguments& in) { return at::sub(in[0], in[1]); });
}

/// ONNX divides integers towards zero, as C++ does.
Operation divide(const Lowering& lowering) {
  if (c10::isFloatingType(lowering.output_type(0))) {
    return single([](const Arguments& in) { return at::div(in[0], in[1]); });
  }
  return single([](const Arguments& in) { return at::div(in[0], in[1], "trunc"); });
}

/// fmod takes the sign of the dividend; ONNX's integer remainder takes that of the divisor.
Operation modulo(const Lowering& lowering) {
  if (lowering.attributes().get_int("fmod") != 0) {
    return single([](const Arguments& in) { return at::fmod(in[0], in[1]); });
  }
  return single([](const Arguments& in) { return at::remainder(in[0], in[1]); });
}

/// The result has the type of the base, whatever the type of the exponent.
Operation power(const Lowering& lowering) {
  return single(
      [type = lowering.output_type(0)](const Arguments& in) { return at::pow(in[0], in[1]).to(type); });
}

Operation mean(const Lowering&) {
  return single([](const Arguments& in) {
    at::Tensor result = in[0];
    for (size_t i = 1; i < in.size(); ++i) result = at::add(result, in[i]);
    return at::div(result, static_cast<double>(in.size()));
  });
}

Operation where(const Lowering&) {
  return single([](const Arguments& in) { return at::where(in[0], in[1], in[2]); });
}

constexpr LowerEntry kLowerings[] = {
    {"Add", add},
    {"And", binary<at::logical_and>},
    {"BitwiseAnd", binary<at::bitwise_and>},
    {"BitwiseOr", binary<at::bitwise_or>},
    {"BitwiseXor", binary<at::bitwise_xor>},
    {"Div", divide},
    {"Equal", binary<at::eq>},
    {"Greater", binary<at::gt>},
    {"GreaterOrEqual", binary<at::ge>},
    {"Less", binary<at::lt>},
    {"LessOrEqual", binary<at::le>},
    {"Max", variadic<at::maximum>},
    {"Mean", mean},
    {"Min", variadic<at::minimum>},
    {"Mod", modulo},
    {"Mul", binary<at::mul>},
    {"Or", binary<at::logical_or>},
    {"Pow", power},
    {"Sub", subtract},
    {"Sum", variadic<add_tensors>},
    {"Where", where},
    {"Xor", binary<at::logical_xor>},
};

}  // namespace

std::span<const LowerEntry> binary_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
