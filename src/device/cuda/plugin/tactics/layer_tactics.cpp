// Runs products with a constant matrix, such as fully connected layers, with hone's own kernels.
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"
#include "device/cuda/plugin/tactics/gemm_kernels.hpp"
#include "device/cuda/plugin/tactics/matrix_request.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// Returns an offer with the arrangement of the operands: the bias as floats, full operands in the layout of
/// the result, operands for each column with the type of the multiplied elements.
Offer arrange(const StepRequest& request, const LayerProduct& layer, const PackedConstant& packed) {
  const Product& product = layer.product;
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {product.dtype, request.inputs[0].shape, Layout::kPlain};
  if (product.bias) offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
  for (const PostOpRequest& post : layer.post_ops) {
    if (graph::is_binary(post.op))
      offer.inputs[post.operand] = {product.dtype, request.inputs[post.operand].shape, Layout::kPlain};
  }
  offer.outputs = {{product.result, request.outputs[0].shape, Layout::kPlain}};
  offer.packed = {packed.key};
  return offer;
}

/// The rows are the pixels of a 1 x 1 convolution; each matrix of a stack is an image.
struct MatrixPlan {
  LayerProduct layer;
  ConvProblem problem;
};

Refusal read(const StepRequest& request, MatrixPlan& plan) {
  if (Refusal reason = read_layer(request, plan.layer)) return reason;
  const Product& product = plan.layer.product;
  if (product.alpha != 1) return "alpha is not 1";
  if (product.dtype == DType::kFloat32) return "it multiplies elements of two bytes";
  if (plan.layer.post_ops.size() > kMaxEpilogueSteps) return "too many post-ops";
  constexpr int64_t kMost = int64_t{1} << 30;
  if (product.rows > kMost || product.columns > kMost || product.depth > kMost) return "a huge matrix";
  const engine::Shape& shape = request.outputs[0].shape;
  const int64_t stacks = shape.size() > 2 ? shape[0] : 1;
  ConvProblem& problem = plan.problem;
  problem.element = product.dtype == DType::kFloat16 ? Element::kHalf : Element::kBFloat16;
  problem.batch = static_cast<int>(stacks);
  problem.height = 1;
  problem.width = static_cast<int>(product.rows / stacks);
  problem.channels = static_cast<int>(product.depth);
  problem.filters = static_cast<int>(product.columns);
  problem.float_result = product.result == DType::kFloat32;
  return {};
}

template <class Kernel>
Offer make(Gpu& gpu, const StepRequest& request, const MatrixPlan& plan,
           const typename Kernel::Config& config, engine::WeightStore& weights) {
  const PackedConstant packed = pack_columns(gpu, request, plan.layer.product, weights);
  Offer offer = arrange(request, plan.layer, packed);
  offer.scratch_bytes = Kernel::workspace_bytes(plan.problem, config);
  offer.counter_bytes = Kernel::counter_bytes(plan.problem, config);
  ConvArgs base = conv_args(plan.layer.post_ops);
  base.w = packed.device->data();
  offer.kernel = std::make_shared<LaunchKernel>(
      "a product with a constant matrix",
      [=, problem = plan.problem, bias = plan.layer.product.bias, post_ops = plan.layer.post_ops](
          auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
        (void)packed;  // keeps the weights alive
        ConvArgs args = base;
        args.x = inputs[0];
        args.bias = bias ? static_cast<const float*>(inputs[2]) : nullptr;
        args.y = outputs[0];
        args.next_waits = options.next_waits;
        args.workspace = scratch;
        args.counters = options.counters;
        bind_steps(post_ops, inputs, args);
        return Kernel::launch(problem, config, args, options);
      },
      true);
  return offer;
}

template <class Kernel>
std::vector<typename Kernel::Config> configs(const MatrixPlan& plan, const DeviceProperties& device) {
  return Kernel::configs(plan.problem, conv_args(plan.layer.post_ops), device);
}

template <class Kernel>
Refusal refusal(const MatrixPlan& plan, const typename Kernel::Config& config,
                const DeviceProperties& device) {
  return Kernel::refusal(plan.problem, conv_args(plan.layer.post_ops), config, device);
}

template <class Kernel>
engine::Tactic matrix_tactic(std::string name, Gpu& gpu) {
  return configured_tactic<MatrixPlan, typename Kernel::Config>(
      std::move(name), product_operators(), gpu, {read, configs<Kernel>, refusal<Kernel>, make<Kernel>});
}

}  // namespace

void add_layer_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(matrix_tactic<WarpgroupGemm>("warpgroup_matrix", gpu));
  list.push_back(matrix_tactic<WarpGemm>("warp_matrix", gpu));
  list.push_back(matrix_tactic<ImplicitGemm>("implicit_matrix", gpu));
}

}  // namespace hone::device::cuda
