// See post_op_check.hpp.
#include "post_op_check.hpp"

#include <algorithm>
#include <cmath>

namespace hone::device::cuda::check {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double unary(const PostOpLink& link, double x) {
  const double alpha = link.alpha, beta = link.beta;
  switch (link.op) {
    case graph::PostOp::kRelu: return std::max(x, 0.0);
    case graph::PostOp::kLeakyRelu: return x < 0 ? alpha * x : x;
    case graph::PostOp::kClip: return std::min(std::max(x, alpha), beta);
    case graph::PostOp::kSigmoid: return sigmoid(x);
    case graph::PostOp::kTanh: return std::tanh(x);
    case graph::PostOp::kHardSwish: return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case graph::PostOp::kHardSigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case graph::PostOp::kSwish: return x * sigmoid(alpha * x);
    case graph::PostOp::kElu: return x < 0 ? alpha * std::expm1(x) : x;
    case graph::PostOp::kGeluErf: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case graph::PostOp::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case graph::PostOp::kSoftplus: return softplus(x);
    case graph::PostOp::kMish: return x * std::tanh(softplus(x));
    default: return x;
  }
}

double binary(graph::PostOp op, double x, double y) {
  if (op == graph::PostOp::kAdd) return x + y;
  return op == graph::PostOp::kMul ? x * y : x - y;
}

}  // namespace

PostOpCase::PostOpCase(const std::vector<PostOpLink>& links, int64_t batch, int64_t channels, int64_t pixels,
                       FloatType type) {
  for (PostOpLink link : links) {
    const int64_t count =
        link.full ? batch * channels * pixels
                  : (link.batch_stride != 0 ? batch : 1) * (link.channel_stride != 0 ? channels : 1);
    operands_.emplace_back(is_binary(link.op) ? count : 0, link.full ? type : FloatType::kFloat);
    link.operand = operands_.back().get();
    if (link.batch_stride != 0) link.batch_stride = link.channel_stride != 0 ? channels : 1;
    epilogue.links[epilogue.count++] = link;
  }
}

double PostOpCase::apply(double x, int64_t n, int64_t c, int64_t position) const {
  for (int i = 0; i < epilogue.count; ++i) {
    const PostOpLink& link = epilogue.links[i];
    const Values& operand = operands_[static_cast<size_t>(i)];
    const int64_t at = link.full ? position : n * link.batch_stride + c * link.channel_stride;
    x = is_binary(link.op) ? binary(link.op, x, operand[at]) : unary(link, x);
  }
  return x;
}

std::string PostOpCase::text() const {
  std::string result;
  for (int i = 0; i < epilogue.count; ++i)
    result += " op " + std::to_string(static_cast<int>(epilogue.links[i].op));
  return result;
}

std::vector<PostOpLink> typical_post_ops() {
  PostOpLink add{graph::PostOp::kAdd};
  add.full = true;
  return {add, {graph::PostOp::kClip, 0, 6}};
}

std::vector<std::vector<PostOpLink>> all_post_ops() {
  std::vector<std::vector<PostOpLink>> result;
  for (int kind = 0; kind < static_cast<int>(graph::PostOp::kAdd); ++kind)
    result.push_back({{static_cast<graph::PostOp>(kind), 0.75f, 0.875f}});
  for (const graph::PostOp kind : {graph::PostOp::kAdd, graph::PostOp::kMul, graph::PostOp::kSub}) {
    for (int form = 0; form < 5; ++form) {
      PostOpLink link{kind};
      link.full = form == 4;
      link.batch_stride = link.full ? 0 : form & 1;
      link.channel_stride = link.full ? 0 : form >> 1;
      result.push_back({link, {graph::PostOp::kSwish, 1}});
    }
  }
  return result;
}

}  // namespace hone::device::cuda::check
