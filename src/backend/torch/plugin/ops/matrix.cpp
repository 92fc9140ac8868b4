// Matrix products as ATen calls.
#include <ATen/ops/addmm.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>

#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

Operation matrix_product(const Lowering&) {
  return single([](const Arguments& in) { return at::matmul(in[0], in[1]); });
}

/// True if input 2 is a vector over the columns, as is the bias of torch.nn.Linear.
bool linear_bias(const Lowering& lowering) {
  if (!lowering.has(2)) return true;
  const graph::TensorType& bias = lowering.graph.value(lowering.node.input(2)).type;
  const graph::TensorType& weights = lowering.graph.value(lowering.node.input(1)).type;
  return bias.fully_known() && weights.fully_known() && bias.dims->size() == 1 &&
         bias.dims->at(0).same_as(weights.dims->at(0));
}

Operation general_product(const Lowering& lowering) {
  const bool transpose_a = lowering.attributes().get_int("transA") != 0;
  const bool transpose_b = lowering.attributes().get_int("transB") != 0;
  const float alpha = lowering.attributes().get_float("alpha");
  const float beta = lowering.attributes().get_float("beta");
  const bool plain = alpha == 1 && (beta == 1 || !lowering.has(2));
  if (!transpose_a && transpose_b && plain && linear_bias(lowering)) {
    return single([](const Arguments& in) {
      return in.has(2) ? at::linear(in[0], in[1], in[2]) : at::linear(in[0], in[1]);
    });
  }
  return single([=](const Arguments& in) {
    const at::Tensor a = transpose_a ? in[0].t() : in[0];
    const at::Tensor b = transpose_b ? in[1].t() : in[1];
    if (in.has(2) && in[2].dim() < 2) return at::addmm(in[2], a, b, beta, alpha);
    // TorchScript treats the addend of addmm as the bias of a linear layer, even if it is a matrix.
    const at::Tensor product = at::mm(a, b);
    const at::Tensor scaled = alpha == 1 ? product : product.mul(alpha);
    return in.has(2) ? scaled.add(in[2], beta) : scaled;
  });
}

Operation einsum(const Lowering& lowering) {
  return single([equation = lowering.attributes().get_string("equation")](const Arguments& in) {
    return at::einsum(equation, in.all());
  });
}

constexpr LowerEntry kLowerings[] = {
    {"Einsum", einsum},
    {"Gemm", general_product},
    {"MatMul", matrix_product},
};

}  // namespace

std::span<const LowerEntry> matrix_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
