// Matrix products through oneDNN: inner product where one side is constant (weights packed once), matmul
// otherwise. Post-ops that a primitive does not take run as an elementwise chain on its output.
#include "device/cpu/matrix.hpp"

#include <algorithm>

#include "device/cpu/elementwise_program.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

bool is_gemm(const graph::Node& node) { return node.op == "Gemm" || node.op == "FusedGemm"; }

Refusal two_matrices(const StepRequest& request) {
  if (request.inputs[0].shape.size() < 2 || request.inputs[1].shape.size() < 2)
    return "an operand is a vector";
  return {};
}

/// A product and a sum without factors.
Refusal without_factors(const StepRequest& request) {
  if (is_gemm(request.node) && request.node.attributes.get_float("alpha") != 1.0f) return "alpha is not 1";
  if (is_gemm(request.node) && request.node.has_input(2) && request.node.attributes.get_float("beta") != 1.0f)
    return "beta is not 1";
  return {};
}

/// The first `inside` post-ops of the node as oneDNN's; nullopt when it does not take one.
std::optional<PostOps> matrix_post_ops(const StepRequest& request, const TensorDesc& result, size_t inside,
                                       bool allow_sum) {
  PostOps post;
  if (inside == 0) return post;
  post = translate_post_ops(request, 3, result, inside, allow_sum);
  if (post.count < inside) return std::nullopt;
  return post;
}

Offer refuse_post_op() { return Offer::refuse("a post-op that neither oneDNN nor a chain can run"); }

void bind_extras(const StepRequest& request, const TensorDesc& result, const PostOps& post,
                 OnednnKernel& kernel, Offer& offer) {
  if (post.accumulate_input >= 0) offer.inputs[static_cast<size_t>(post.accumulate_input)] = result;
  for (const auto& [input, argument] : post.binary_inputs) {
    const auto desc = chain_operand_desc(request.inputs[input], result);
    offer.inputs[input] = *desc;
    TensorDesc seen = *desc;
    while (seen.shape.size() < result.shape.size()) seen.shape.insert(seen.shape.begin(), 1);
    kernel.bind_input(input, argument, onednn_desc(seen));
  }
}

bool is_stacked(const StepRequest& request) { return request.outputs[0].shape.size() != 2; }

bool extras_are_flat(const StepRequest& request) {
  for (size_t i = 3; i < request.inputs.size(); ++i) {
    if (request.inputs[i].shape != request.outputs[0].shape &&
        tensor::element_count(request.inputs[i].shape) != 1)
      return false;
  }
  return true;
}

Refusal refuse_post_ops(const StepRequest& request) {
  if (is_stacked(request) && post_op_count(request) != 0 && !extras_are_flat(request))
    return "a post-op is broadcast over a stack";
  return {};
}

Offer make_inner_product(const StepRequest& request, size_t inside, bool allow_sum,
                         engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  const int64_t columns = request.outputs[0].shape.back();
  const int64_t depth = request.inputs[0].shape.back();
  const int64_t rows = tensor::element_count(request.inputs[0].shape) / depth;
  const bool bias = node.has_input(2);
  // Leading dimensions of a stack are rows of one matrix.
  const TensorDesc source{request.storage(), {rows, depth}, Layout::kPlain};
  const TensorDesc result{request.storage(), {rows, columns}, Layout::kPlain};
  const bool stacked = is_stacked(request);
  StepRequest flat = request;
  if (stacked) {
    for (size_t i = 3; i < flat.inputs.size(); ++i) {
      if (flat.inputs[i].shape == request.outputs[0].shape) flat.inputs[i].shape = result.shape;
    }
  }
  const auto post = matrix_post_ops(flat, result, inside, allow_sum);
  if (!post) return refuse_post_op();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post->ops);
  const memory::dims weight_dims = {columns, depth};
  const memory::desc weight_any(weight_dims, onednn_type(request.storage()), memory::format_tag::any);
  const memory::desc bias_desc =
      bias ? memory::desc({columns}, memory::data_type::f32, memory::format_tag::x) : memory::desc();
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::inner_product_forward::primitive_desc pd(
      onednn_engine(), kKind, onednn_desc(source), weight_any, bias_desc, onednn_desc(result), attributes);
#else
  const dnnl::inner_product_forward::primitive_desc pd(
      {kKind, onednn_desc(source), weight_any, bias_desc, onednn_desc(result)}, attributes, onednn_engine());
#endif
  auto kernel = std::make_shared<OnednnKernel>(dnnl::inner_product_forward(pd));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {source.dtype, request.inputs[0].shape, Layout::kPlain};
  offer.outputs = {{result.dtype, request.outputs[0].shape, Layout::kPlain}};
  kernel->bind_input(0, DNNL_ARG_SRC, pd.src_desc());
  kernel->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel->bind_scratch(pd.scratchpad_desc());
  const PackedConstant packed =
      pack_matrix(request, 1, weight_dims, is_transposed(node), pd.weights_desc(), weights);
  kernel->bind_constant(DNNL_ARG_WEIGHTS, pd.weights_desc(), packed.data);
  if (bias) {
    kernel->bind_input(2, DNNL_ARG_BIAS, pd.bias_desc());
    offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
  }
  bind_extras(flat, result, *post, *kernel, offer);
  for (size_t i = 3; i < offer.inputs.size(); ++i) {
    if (stacked && offer.inputs[i].shape == result.shape) offer.inputs[i].shape = request.outputs[0].shape;
  }
  offer.accumulate(post->accumulate_input);
  offer.packed = {packed.key};
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  offer.kernel = std::move(kernel);
  if (!append_rest(request, inside, offer)) return refuse_post_op();
  return offer;
}

/// The steps before a GELU run inside the primitive, and the GELU with the later ones as a chain: oneDNN
/// computes the error function slowly, the chain reads and writes the result once more.
Offer offer_inner_product_then_gelu(const StepRequest& request, engine::WeightStore& weights) {
  if (Refusal reason = refuse_operands(request)) return Offer::refuse(std::move(reason));
  if (Refusal reason = refuse_post_ops(request)) return Offer::refuse(std::move(reason));
  if (post_op_count(request) == 0) return Offer::refuse("no GELU follows");
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto gelu = std::ranges::find(names, "gelu_erf");
  if (gelu == names.end()) return Offer::refuse("no GELU follows");
  const auto inside = static_cast<size_t>(gelu - names.begin());
  return guard_onednn([&] { return make_inner_product(request, inside, false, weights); });
}

Offer offer_inner_product(const StepRequest& request, engine::WeightStore& weights) {
  if (Refusal reason = refuse_operands(request)) return Offer::refuse(std::move(reason));
  if (Refusal reason = refuse_post_ops(request)) return Offer::refuse(std::move(reason));
  return offer_with_post_ops(request, [&](size_t inside, bool allow_sum) {
    return guard_onednn([&] { return make_inner_product(request, inside, allow_sum, weights); });
  });
}

Offer make_matmul(const StepRequest& request, size_t inside, bool allow_sum) {
  const TensorDesc a{request.storage(), request.inputs[0].shape, Layout::kPlain};
  const TensorDesc b{request.storage(), request.inputs[1].shape, Layout::kPlain};
  const TensorDesc c{request.storage(), request.outputs[0].shape, Layout::kPlain};
  const auto post = matrix_post_ops(request, c, inside, allow_sum);
  if (!post) return refuse_post_op();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post->ops);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc pd(onednn_engine(), onednn_desc(a), onednn_desc(b), onednn_desc(c),
                                        attributes);
#else
  const dnnl::matmul::primitive_desc pd({onednn_desc(a), onednn_desc(b), onednn_desc(c)}, attributes,
                                        onednn_engine());
#endif
  if (const Refusal reason = refuse_implementation(pd.impl_info_str())) return Offer::refuse(reason);
  auto kernel = std::make_shared<OnednnKernel>(dnnl::matmul(pd));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = a;
  offer.inputs[1] = b;
  offer.outputs = {c};
  kernel->bind_input(0, DNNL_ARG_SRC, pd.src_desc());
  kernel->bind_input(1, DNNL_ARG_WEIGHTS, pd.weights_desc());
  kernel->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel->bind_scratch(pd.scratchpad_desc());
  bind_extras(request, c, *post, *kernel, offer);
  offer.accumulate(post->accumulate_input);
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  offer.kernel = std::move(kernel);
  if (!append_rest(request, inside, offer)) return refuse_post_op();
  return offer;
}

Offer offer_matmul(const StepRequest& request, engine::WeightStore&) {
  if (request.inputs[0].shape.size() != request.outputs[0].shape.size() ||
      request.inputs[1].shape.size() != request.outputs[0].shape.size()) {
    return Offer::refuse("operands of different rank");
  }
  if (request.node.has_input(2)) return Offer::refuse("a bias on a product of two variables");
  return offer_with_post_ops(request, [&](size_t inside, bool allow_sum) {
    return guard_onednn([&] { return make_matmul(request, inside, allow_sum); });
  });
}

}  // namespace

const std::vector<engine::Requirement>& product_requirements() {
  static const std::vector<engine::Requirement> kRequirements = {
      engine::only_float32, engine::nonempty_output, two_matrices, without_factors, engine::bias_in_range};
  return kRequirements;
}

Refusal refuse_operands(const StepRequest& request) {
  const graph::Node& node = request.node;
  if (!request.graph.value(node.inputs[1]).constant) return "the second operand is not constant";
  if (request.inputs[1].shape.size() != 2) return "the second operand is a stack of matrices";
  if (is_gemm(node) && node.attributes.get_int("transA") != 0) return "the first operand is transposed";
  if (request.inputs[0].shape.back() == 0) return "the inner dimension is 0";
  if (node.has_input(2) && !tensor::is_row(request.inputs[2].shape, request.outputs[0].shape.back()))
    return "the bias is not one value per column";
  return {};
}

bool is_transposed(const graph::Node& node) {
  return is_gemm(node) && node.attributes.get_int("transB") != 0;
}

void add_matrix_tactics(TacticList& list) {
  const std::vector<engine::Requirement>& requirements = product_requirements();
  list.push_back({.name = "onednn_inner_product",
                  .operators = {"Gemm", "FusedGemm", "MatMul", "FusedMatMul"},
                  .requirements = requirements,
                  .make = offer_inner_product});
  list.push_back({.name = "onednn_inner_product_then_gelu",
                  .operators = {"FusedGemm", "FusedMatMul"},
                  .requirements = requirements,
                  .make = offer_inner_product_then_gelu});
  list.push_back({.name = "onednn_matmul",
                  .operators = {"MatMul", "FusedMatMul"},
                  .requirements = requirements,
                  .make = offer_matmul});
}

}  // namespace hone::device::cpu
