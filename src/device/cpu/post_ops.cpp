// Post-ops of fused nodes as oneDNN's; see onednn.hpp.
#include <algorithm>

#include "device/cpu/onednn.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::algorithm;
using engine::TensorDesc;

void append_eltwise(dnnl::post_ops& ops, algorithm kind, float alpha, float beta) {
#if DNNL_VERSION_MAJOR >= 3
  ops.append_eltwise(kind, alpha, beta);
#else
  ops.append_eltwise(1.0f, kind, alpha, beta);
#endif
}

/// False when oneDNN has no such function.
bool append_activation(dnnl::post_ops& ops, const std::string& name, float alpha, float beta) {
  if (name == "relu") {
    append_eltwise(ops, algorithm::eltwise_relu, 0, 0);
  } else if (name == "leaky_relu") {
    append_eltwise(ops, algorithm::eltwise_relu, alpha, 0);
  } else if (name == "clip") {
    append_eltwise(ops, algorithm::eltwise_clip, alpha, beta);
  } else if (name == "sigmoid") {
    append_eltwise(ops, algorithm::eltwise_logistic, 0, 0);
  } else if (name == "tanh") {
    append_eltwise(ops, algorithm::eltwise_tanh, 0, 0);
  } else if (name == "hard_swish") {
#if DNNL_VERSION_MAJOR >= 3
    append_eltwise(ops, algorithm::eltwise_hardswish, 1.0f / 6, 0.5f);
#else
    append_eltwise(ops, algorithm::eltwise_hardswish, 0, 0);
#endif
  } else if (name == "hard_sigmoid") {
    append_eltwise(ops, algorithm::eltwise_linear, alpha, beta);
    append_eltwise(ops, algorithm::eltwise_clip, 0, 1);
  } else if (name == "swish") {
    append_eltwise(ops, algorithm::eltwise_swish, alpha, 0);
  } else if (name == "elu") {
    append_eltwise(ops, algorithm::eltwise_elu, alpha, 0);
  } else if (name == "gelu_erf") {
    append_eltwise(ops, algorithm::eltwise_gelu_erf, 0, 0);
  } else if (name == "gelu_tanh") {
    append_eltwise(ops, algorithm::eltwise_gelu_tanh, 0, 0);
  } else {
    return false;
  }
  return true;
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

}  // namespace

PostOps translate_post_ops(const engine::StepRequest& request, size_t first_extra, const TensorDesc& output,
                           size_t limit, bool allow_sum) {
  PostOps result;
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = request.node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = request.node.attributes.get<std::vector<float>>("post_betas");
  size_t extra = first_extra;
  for (size_t i = 0; i < std::min(names.size(), limit); ++i) {
    if (names[i] != "add" && names[i] != "mul" && names[i] != "sub") {
      if (!append_activation(result.ops, names[i], alphas[i], betas[i])) break;
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
      if (!desc) break;
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

}  // namespace hone::device::cpu
