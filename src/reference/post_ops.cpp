// See post_ops.hpp.
#include "reference/post_ops.hpp"

#include "graph/post_op.hpp"
#include "reference/activations.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

using graph::PostOp;

double unary(PostOp op, double x, double alpha, double beta) {
  switch (op) {
    case PostOp::kRelu: return relu(x);
    case PostOp::kLeakyRelu: return leaky_relu(x, alpha);
    case PostOp::kClip: return clip(x, alpha, beta);
    case PostOp::kSigmoid: return sigmoid(x);
    case PostOp::kTanh: return std::tanh(x);
    case PostOp::kHardSwish: return hard_swish(x);
    case PostOp::kHardSigmoid: return hard_sigmoid(x, alpha, beta);
    case PostOp::kSwish: return swish(x, alpha);
    case PostOp::kElu: return elu(x, alpha);
    case PostOp::kGeluErf: return gelu_erf(x);
    case PostOp::kGeluTanh: return gelu_tanh(x);
    case PostOp::kSoftplus: return softplus(x);
    case PostOp::kMish: return mish(x);
    default: break;
  }
  fail_internal("a binary post-op is applied as a unary one");
}

double binary(PostOp op, double x, double other) {
  if (op == PostOp::kAdd) return x + other;
  return op == PostOp::kMul ? x * other : x - other;
}

void apply_binary(PostOp op, std::vector<double>& values, const Shape& shape, const Tensor& operand) {
  const auto other = operand.to_double();
  size_t next = 0;
  walk<1>(shape, {tensor::broadcast_strides(operand.shape(), shape)}, {0}, [&](const auto& at) {
    values[next] = binary(op, values[next], other[static_cast<size_t>(at[0])]);
    ++next;
  });
}

}  // namespace

void apply_post_ops(KernelContext& context, size_t first_extra) {
  const auto& names = context.attributes().get<std::vector<std::string>>("post_ops");
  if (names.empty()) return;
  const auto& alphas = context.attributes().get<std::vector<float>>("post_alphas");
  const auto& betas = context.attributes().get<std::vector<float>>("post_betas");
  if (alphas.size() != names.size() || betas.size() != names.size()) {
    fail_bad_input("{} post-ops, {} alphas and {} betas", names.size(), alphas.size(), betas.size());
  }
  Tensor& result = context.outputs[0];
  auto values = result.to_double();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto op = graph::find_post_op(names[i]);
    if (!op) fail_bad_input("'{}' is no post-op", names[i]);
    if (graph::is_binary(*op)) {
      if (!context.has_input(first_extra)) fail_bad_input("post-op '{}' lacks its operand", names[i]);
      apply_binary(*op, values, result.shape(), context.input(first_extra++));
      continue;
    }
    for (double& value : values) value = unary(*op, value, alphas[i], betas[i]);
  }
  result = Tensor::of(values, result.shape()).cast(result.dtype());
}

}  // namespace hone::reference
