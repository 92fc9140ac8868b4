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
                               {"Neg", ChainOp::kNeg},
                               {"Abs", ChainOp::kAbs},
                               {"Exp", ChainOp::kExp},
                               {"Sqrt", ChainOp::kSqrt},
                               {"Add", ChainOp::kAdd},
                               {"Sub", ChainOp::kSub},
                               {"Mul", ChainOp::kMul},
                               {"Div", ChainOp::kDiv}};

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

Refusal clip_links(const StepRequest& request, std::vector<ChainLink>& chain) {
  ChainLink link{ChainOp::kClip, -std::numeric_limits<float>::infinity(),
                 std::numeric_limits<float>::infinity()};
  for (size_t i = 1; i <= 2; ++i) {
    if (!request.node.has_input(i)) continue;
    const tensor::Tensor* bound = request.graph.constant(request.node.inputs[i]);
    if (bound == nullptr || bound->size() != 1) return "the bounds are not constant";
    (i == 1 ? link.alpha : link.beta) = static_cast<float>(bound->to_double()[0]);
  }
  // ONNX: with min above max every element becomes max; a chain would give min.
  if (link.alpha > link.beta) return "the lower bound is above the upper one";
  chain.push_back(link);
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
  ChainLink link{single.link};
  if (single.alpha != nullptr) link.alpha = node.attributes.get_float(single.alpha);
  if (single.beta != nullptr) link.beta = node.attributes.get_float(single.beta);
  if (is_binary(link.op)) {
    // The operand with the output's shape is the main one.
    main = request.inputs[0].shape == request.outputs[0].shape ? 0 : 1;
    if (request.inputs[main].shape != request.outputs[0].shape) return "both operands are broadcast";
    link.operand = 1 - main;
    if (main == 1 && link.op == ChainOp::kSub) link.op = ChainOp::kReverseSub;
    if (main == 1 && link.op == ChainOp::kDiv) return "the dividend is broadcast";
  }
  chain.push_back(link);
  return {};
}

Offer offer_chain(const StepRequest& request, engine::WeightStore&) {
  size_t main = 0;
  std::vector<ChainLink> chain;
  if (Refusal reason = links(request, main, chain)) return Offer::refuse(std::move(reason));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  TensorDesc result = request.inputs[main];
  result.dtype = request.storage();
  // Of images in another layout a chain has operands for each channel, but none for each row or column.
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
