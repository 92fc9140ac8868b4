// Elementwise operators and fused chains as one pass over memory.
#include <cmath>
#include <limits>

#include "device/cpu/elementwise_program.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

/// Operators that are one link of a chain; alpha and beta come from the attributes named.
struct Single {
  std::string_view op;
  ChainOp link;
  const char* alpha = nullptr;
  const char* beta = nullptr;
};

constexpr Single kSingles[] = {{"Relu", ChainOp::kRelu},
                               {"LeakyRelu", ChainOp::kLeakyRelu, "alpha"},
                               {"Sigmoid", ChainOp::kSigmoid},
                               {"Tanh", ChainOp::kTanh},
                               {"Elu", ChainOp::kElu, "alpha"},
                               {"HardSigmoid", ChainOp::kHardSigmoid, "alpha", "beta"},
                               {"HardSwish", ChainOp::kHardSwish},
                               {"Softplus", ChainOp::kSoftplus},
                               {"Mish", ChainOp::kMish},
                               {"Selu", ChainOp::kSelu, "alpha", "gamma"},
                               {"Celu", ChainOp::kCelu, "alpha"},
                               {"Softsign", ChainOp::kSoftsign},
                               {"ThresholdedRelu", ChainOp::kThresholdedRelu, "alpha"},
                               {"Shrink", ChainOp::kShrink, "lambd", "bias"},
                               {"Neg", ChainOp::kNeg},
                               {"Abs", ChainOp::kAbs},
                               {"Sign", ChainOp::kSign},
                               {"Exp", ChainOp::kExp},
                               {"Log", ChainOp::kLog},
                               {"Sqrt", ChainOp::kSqrt},
                               {"Erf", ChainOp::kErf},
                               {"Reciprocal", ChainOp::kReciprocal},
                               {"Floor", ChainOp::kFloor},
                               {"Ceil", ChainOp::kCeil},
                               {"Round", ChainOp::kRound},
                               {"Sin", ChainOp::kSin},
                               {"Cos", ChainOp::kCos},
                               {"Tan", ChainOp::kTan},
                               {"Asin", ChainOp::kAsin},
                               {"Acos", ChainOp::kAcos},
                               {"Atan", ChainOp::kAtan},
                               {"Sinh", ChainOp::kSinh},
                               {"Cosh", ChainOp::kCosh},
                               {"Asinh", ChainOp::kAsinh},
                               {"Acosh", ChainOp::kAcosh},
                               {"Atanh", ChainOp::kAtanh},
                               {"Add", ChainOp::kAdd},
                               {"Sub", ChainOp::kSub},
                               {"Mul", ChainOp::kMul},
                               {"Div", ChainOp::kDiv},
                               {"Pow", ChainOp::kPow},
                               {"PRelu", ChainOp::kPRelu},
                               {"Max", ChainOp::kMax},
                               {"Min", ChainOp::kMin},
                               {"Sum", ChainOp::kAdd}};

const Single* find_single(const std::string& op) {
  for (const Single& single : kSingles) {
    if (single.op == op) return &single;
  }
  return nullptr;
}

/// How the other operands of a chain must lie for such a result; nullopt where one cannot.
std::optional<std::vector<std::pair<size_t, TensorDesc>>> operands(const StepRequest& request,
                                                                   const std::vector<ChainLink>& chain,
                                                                   const TensorDesc& result) {
  std::vector<std::pair<size_t, TensorDesc>> descs;
  for (const ChainLink& link : chain) {
    if (!is_binary(link.op)) continue;
    const auto desc = chain_operand_desc(request.inputs[link.operand], result);
    if (!desc) return std::nullopt;
    descs.emplace_back(link.operand, *desc);
  }
  return descs;
}

Refusal fused_links(const StepRequest& request, std::vector<ChainLink>& chain) {
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = request.node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = request.node.attributes.get<std::vector<float>>("post_betas");
  if (request.inputs[0].shape != request.outputs[0].shape) return "the main input is broadcast";
  size_t extra = 1;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto op = chain_op(names[i]);
    if (!op) return fmt::format("post-op '{}' is not in a chain", names[i]);
    chain.push_back({*op, alphas[i], betas[i], is_binary(*op) ? extra++ : 0});
  }
  return {};
}

/// The element of a constant bound; nullopt where the bound is computed.
std::optional<float> constant_bound(const StepRequest& request, size_t input) {
  const tensor::Tensor* bound = request.graph.constant(request.node.inputs[input]);
  if (bound == nullptr || bound->size() != 1) return std::nullopt;
  return static_cast<float>(bound->to_double()[0]);
}

Refusal clip_links(const StepRequest& request, std::vector<ChainLink>& chain) {
  ChainLink link{ChainOp::kClip, -std::numeric_limits<float>::infinity(),
                 std::numeric_limits<float>::infinity()};
  bool known = true;
  for (size_t i = 1; i <= 2; ++i) {
    if (!request.node.has_input(i)) continue;
    const auto bound = constant_bound(request, i);
    known = known && bound;
    if (known) (i == 1 ? link.alpha : link.beta) = *bound;
  }
  // ONNX: with min above max every element becomes max, and a NaN bounds nothing; a clip in a chain differs.
  if (known && link.alpha <= link.beta) {
    chain.push_back(link);
    return {};
  }
  for (size_t i = 1; i <= 2; ++i) {
    if (!request.node.has_input(i)) continue;
    if (tensor::element_count(request.inputs[i].shape) != 1) return "a bound of several elements";
    chain.push_back({.op = i == 1 ? ChainOp::kAtLeast : ChainOp::kAtMost, .operand = i});
  }
  return {};
}

/// The operation with its operands in the other order; nullopt where it has no such form.
std::optional<ChainOp> reversed(ChainOp op) {
  switch (op) {
    case ChainOp::kSub: return ChainOp::kReverseSub;
    case ChainOp::kDiv: return ChainOp::kReverseDiv;
    case ChainOp::kPow: return ChainOp::kReversePow;
    case ChainOp::kPRelu: return std::nullopt;
    default: return op;
  }
}

/// One link for each operand after the first: the first one with the output's shape is the main one, and one
/// that another comes before is its second operand.
Refusal operand_links(const StepRequest& request, ChainOp op, size_t& main, std::vector<ChainLink>& chain) {
  const std::vector<TensorDesc>& inputs = request.inputs;
  for (main = 0; main < inputs.size() && inputs[main].shape != request.outputs[0].shape;) ++main;
  if (main == inputs.size()) return "all operands are broadcast";
  for (const TensorDesc& input : inputs) {
    if (input.dtype != request.outputs[0].dtype && input.dtype != request.storage())
      return "operands of several element types";
  }
  const auto link = main == 0 ? std::optional(op) : reversed(op);
  if (!link) return "the first operand is broadcast";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i != main) chain.push_back({.op = *link, .operand = i});
  }
  return {};
}

/// Fills in the chain; a reason when there is none.
Refusal links(const StepRequest& request, size_t& main, std::vector<ChainLink>& chain) {
  const graph::Node& node = request.node;
  if (node.op == "FusedElementwise") return fused_links(request, chain);
  if (node.op == "Clip") return clip_links(request, chain);
  if (node.op == "Gelu") {
    const bool tanh = node.attributes.get_string("approximate") == "tanh";
    chain.push_back({tanh ? ChainOp::kGeluTanh : ChainOp::kGeluErf});
    return {};
  }
  const Single& single = *find_single(node.op);
  if (is_binary(single.link)) return operand_links(request, single.link, main, chain);
  ChainLink link{single.link};
  if (single.alpha != nullptr) link.alpha = node.attributes.get_float(single.alpha);
  if (single.beta != nullptr) link.beta = node.attributes.get_float(single.beta);
  if (link.op == ChainOp::kCelu && !(link.alpha > 0)) return "alpha is not positive";
  chain.push_back(link);
  return {};
}

/// True if a small error of the operand may become a large one of the result.
bool magnifies(ChainOp op) {
  switch (op) {
    case ChainOp::kSin:
    case ChainOp::kCos:
    case ChainOp::kTan:
    case ChainOp::kSign:
    case ChainOp::kFloor:
    case ChainOp::kCeil:
    case ChainOp::kRound: return true;
    default: return false;
  }
}

Offer offer_chain(const StepRequest& request, engine::WeightStore&) {
  size_t main = 0;
  std::vector<ChainLink> chain;
  if (Refusal reason = links(request, main, chain)) return Offer::refuse(std::move(reason));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  TensorDesc result = request.inputs[main];
  // An input that was left in float32 for this step's sake (float32_nodes.hpp) is read as such.
  if (chain.empty() || !magnifies(chain.front().op)) result.dtype = request.storage();
  // For images in another layout a chain has operands for each channel, but none for each row or column.
  if (!operands(request, chain, result)) result.layout = Layout::kPlain;
  const auto others = operands(request, chain, result);
  if (!others) return Offer::refuse("an input is broadcast in a way a chain has not");
  for (const auto& [input, desc] : *others) offer.inputs[input] = desc;
  offer.inputs[main] = result;
  offer.outputs = {result};
  offer.in_place_input = static_cast<int>(main);
  offer.kernel = make_chain_kernel(result, main, chain, offer.inputs);
  return offer;
}

}  // namespace

void add_elementwise_tactics(TacticList& list) {
  engine::Tactic chain{.name = "chain",
                       .operators = {"FusedElementwise", "Clip", "Gelu"},
                       .requirements = {engine::only_float32},
                       .make = offer_chain};
  for (const Single& single : kSingles) chain.operators.emplace_back(single.op);
  list.push_back(std::move(chain));
}

}  // namespace hone::device::cpu
