// Post-ops of fused nodes: as oneDNN's (see onednn.hpp), and as a chain after a primitive.
#include "device/cpu/post_ops.hpp"

#include <algorithm>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/eltwise.hpp"
#include "device/cpu/onednn.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::algorithm;
using engine::TensorDesc;

Eltwise hard_swish() {
#if DNNL_VERSION_MAJOR >= 3
  return {algorithm::eltwise_hardswish, 1.0f / 6, 0.5f};
#else
  return {algorithm::eltwise_hardswish};
#endif
}

/// A primitive of oneDNN 2.6 keeps the parameters of one function per algorithm: a second one with others
/// would be computed with those of the first, without an error.
bool clashes(const Eltwise& next, const std::vector<Eltwise>& inside) {
  return std::any_of(inside.begin(), inside.end(), [&](const Eltwise& other) {
    return other.kind == next.kind && (other.alpha != next.alpha || other.beta != next.beta);
  });
}

/// The descriptor of a binary operand seen at the output's rank; nullopt when oneDNN cannot broadcast it.
std::optional<dnnl::memory::desc> binary_desc(const TensorDesc& operand, const TensorDesc& output) {
  if (operand.shape == output.shape) {
    return onednn_desc({output.dtype, output.shape, output.layout});
  }
  const size_t rank = output.shape.size();
  if (operand.shape.size() > rank) return std::nullopt;
  engine::Shape padded(rank - operand.shape.size(), 1);
  padded.insert(padded.end(), operand.shape.begin(), operand.shape.end());
  for (size_t i = 0; i < rank; ++i) {
    if (padded[i] != 1 && (i != 1 || padded[i] != output.shape[i])) return std::nullopt;
  }
  return onednn_desc({tensor::DType::kFloat32, padded, engine::Layout::kPlain});
}

/// True if a broadcast operand, which a primitive reads in float32, may take its sums beyond the range in
/// which it keeps results; a chain keeps those finite.
bool may_overflow(const engine::StepRequest& request, size_t operand, const TensorDesc& output) {
  if (request.inputs[operand].shape == output.shape) return false;
  return engine::is_beyond_storage(request, operand);
}

/// The index of the first operand of a post-op among the inputs of convolutions and products.
constexpr size_t kFirstExtra = 3;

class SequenceKernel final : public engine::Kernel {
 public:
  SequenceKernel(std::shared_ptr<const engine::Kernel> first, std::shared_ptr<const engine::Kernel> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  /// The second kernel works in place on the output of the first, which it sees as one more input.
  void run(const engine::Run& run) const override {
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    engine::Run part = run;
    part.state = state.first.get();
    first_->run(part);
    state.more.assign(run.inputs.begin(), run.inputs.end());
    state.more.push_back(run.outputs[0]);
    part.inputs = state.more;
    part.state = state.second.get();
    second_->run(part);
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->first = first_->make_state();
    state->second = second_->make_state();
    return state;
  }

 private:
  struct State final : engine::KernelState {
    std::unique_ptr<engine::KernelState> first;
    std::unique_ptr<engine::KernelState> second;
    /// The inputs of the second one.
    std::vector<const void*> more;
  };

  std::shared_ptr<const engine::Kernel> first_;
  std::shared_ptr<const engine::Kernel> second_;
};

}  // namespace

std::vector<Eltwise> eltwise_functions(const std::string& post_op, float alpha, float beta) {
  if (post_op == "relu") return {{algorithm::eltwise_relu}};
  if (post_op == "leaky_relu") return {{algorithm::eltwise_relu, alpha}};
  if (post_op == "clip") return {{algorithm::eltwise_clip, alpha, beta}};
  if (post_op == "sigmoid") return {{algorithm::eltwise_logistic}};
  if (post_op == "tanh") return {{algorithm::eltwise_tanh}};
  if (post_op == "hard_swish") return {hard_swish()};
  if (post_op == "hard_sigmoid")
    return {{algorithm::eltwise_linear, alpha, beta}, {algorithm::eltwise_clip, 0, 1}};
  if (post_op == "swish") return {{algorithm::eltwise_swish, alpha}};
  if (post_op == "elu") return {{algorithm::eltwise_elu, alpha}};
  if (post_op == "gelu_erf") return {{algorithm::eltwise_gelu_erf}};
  if (post_op == "gelu_tanh") return {{algorithm::eltwise_gelu_tanh}};
  return {};
}

bool append_functions(const std::vector<Eltwise>& functions, std::vector<Eltwise>& inside,
                      dnnl::post_ops& ops) {
  if (functions.empty()) return false;
  for (const Eltwise& next : functions) {
    if (clashes(next, inside)) return false;
  }
  for (const Eltwise& next : functions) {
#if DNNL_VERSION_MAJOR >= 3
    ops.append_eltwise(next.kind, next.alpha, next.beta);
#else
    ops.append_eltwise(1.0f, next.kind, next.alpha, next.beta);
#endif
    inside.push_back(next);
  }
  return true;
}

PostOps translate_post_ops(const engine::StepRequest& request, size_t first_extra, const TensorDesc& output,
                           size_t limit, bool allow_sum) {
  PostOps result;
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = request.node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = request.node.attributes.get<std::vector<float>>("post_betas");
  std::vector<Eltwise> functions;
  size_t extra = first_extra;
  for (size_t i = 0; i < std::min(names.size(), limit); ++i) {
    if (names[i] != "add" && names[i] != "mul" && names[i] != "sub") {
      if (!append_functions(eltwise_functions(names[i], alphas[i], betas[i]), functions, result.ops)) break;
      ++result.count;
      continue;
    }
    if (extra >= request.inputs.size()) break;
    const TensorDesc& operand = request.inputs[extra];
    const bool constant = request.graph.constant(request.node.inputs[extra]) != nullptr;
    if (names[i] == "add" && allow_sum && !constant && result.accumulate_input < 0 &&
        operand.shape == output.shape) {
      result.ops.append_sum(1.0f);
      result.accumulate_input = static_cast<int>(extra);
    } else {
      const auto desc = binary_desc(operand, output);
      if (!desc || may_overflow(request, extra, output)) break;
      const algorithm kind = names[i] == "add"   ? algorithm::binary_add
                             : names[i] == "mul" ? algorithm::binary_mul
                                                 : algorithm::binary_sub;
      const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(result.ops.len()) | DNNL_ARG_SRC_1;
      result.ops.append_binary(kind, *desc);
      result.binary_inputs.emplace_back(extra, argument);
    }
    ++extra;
    ++result.count;
  }
  return result;
}

size_t post_op_count(const engine::StepRequest& request) {
  if (!request.node.attributes.has("post_ops")) return 0;
  return request.node.attributes.get<std::vector<std::string>>("post_ops").size();
}

bool begins_with_sum(const engine::StepRequest& request) {
  if (post_op_count(request) == 0) return false;
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  return names[0] == "add" && request.inputs.size() > 3 &&
         request.inputs[3].shape == request.outputs[0].shape &&
         request.graph.constant(request.node.inputs[3]) == nullptr;
}

std::vector<ChainLink> unary_post_ops(const engine::StepRequest& request, size_t first) {
  std::vector<ChainLink> links;
  if (first >= post_op_count(request)) return links;
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = request.node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = request.node.attributes.get<std::vector<float>>("post_betas");
  for (size_t i = first; i < names.size(); ++i) {
    const auto op = chain_op(names[i]);
    if (!op || is_binary(*op)) break;
    links.push_back({*op, alphas[i], betas[i]});
  }
  return links;
}

bool any_is_smooth(const std::vector<ChainLink>& links) {
  return std::ranges::any_of(links, [](const ChainLink& link) {
    return link.op == ChainOp::kSigmoid || link.op == ChainOp::kSwish || link.op == ChainOp::kGeluErf ||
           link.op == ChainOp::kGeluTanh;
  });
}

void apply_links(const std::vector<ChainLink>& links, float* x, int64_t n, LinkError error) {
  constexpr auto kLength = static_cast<int64_t>(kRun);
  if (links.empty()) return;
  for (int64_t begin = 0; begin < n; begin += kLength) {
    const auto count = static_cast<size_t>(std::min(n - begin, kLength));
    for (const ChainLink& link : links) apply_link(link, x + begin, nullptr, 0, x + begin, count, error);
  }
}

bool append_rest(const engine::StepRequest& request, size_t done, engine::Offer& offer) {
  if (done >= post_op_count(request)) return true;
  const TensorDesc result = offer.outputs[0];
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = request.node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = request.node.attributes.get<std::vector<float>>("post_betas");
  std::vector<ChainLink> chain;
  size_t extra = kFirstExtra;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto op = chain_op(names[i]);
    if (!op) return false;
    const size_t operand = is_binary(*op) ? extra++ : 0;
    if (i < done) continue;
    if (is_binary(*op)) {
      const auto desc = chain_operand_desc(request.inputs[operand], result);
      if (!desc) return false;
      offer.inputs[operand] = *desc;
    }
    chain.push_back({*op, alphas[i], betas[i], operand});
  }
  std::vector<TensorDesc> inputs = offer.inputs;
  inputs.push_back(result);
  offer.kernel = std::make_shared<SequenceKernel>(
      offer.kernel, make_chain_kernel(result, inputs.size() - 1, chain, inputs));
  return true;
}

engine::Offer finish_tiled_offer(const engine::StepRequest& request, const TensorDesc& input,
                                 const TensorDesc& output, const engine::WeightKey& packed, size_t inside,
                                 std::shared_ptr<const engine::Kernel> kernel, int64_t scratch_bytes) {
  engine::Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = input;
  offer.outputs = {output};
  if (request.node.has_input(2))
    offer.inputs[2] = {tensor::DType::kFloat32, request.inputs[2].shape, engine::Layout::kPlain};
  if (begins_with_sum(request)) {
    offer.inputs[kFirstExtra] = output;
    offer.accumulate(static_cast<int>(kFirstExtra));
  }
  offer.packed = {packed};
  offer.scratch_bytes = scratch_bytes;
  offer.kernel = std::move(kernel);
  if (!append_rest(request, inside, offer)) return engine::Offer::refuse("a post-op that no chain can run");
  return offer;
}

}  // namespace hone::device::cpu
