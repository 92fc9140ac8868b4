// Runs convolutions through cuDNN's fused graphs. Every engine configuration that its heuristics recommend
// (in an exhaustive search, every one that its engines have) is a variant, so that the tactic search times
// all of them.
#include <cmath>
#include <functional>

#include "device/cuda/plugin/kernels/layers/movement.hpp"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"
#include "device/cuda/plugin/libraries/cudnn_compiler.hpp"
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using graph::PostOp;
using tensor::DType;

struct Plan {
  ConvolutionRequest request;
  CudnnConvolution convolution;
  /// Index of the node's input for each pointwise operand, in the order of their ids.
  std::vector<size_t> operands;
  /// Channels of the source and of the result, padded to the multiples that tensor cores need.
  int64_t channels = 0;
  int64_t filters = 0;

  bool pads_filters() const { return filters != request.geometry.out_channels; }
};

/// Returns an empty refusal if the post-op was appended.
Refusal append(const PostOpRequest& post, Plan& plan) {
  CudnnPointwise op{};
  switch (post.op) {
    case PostOp::kRelu: op.mode = CUDNN_POINTWISE_RELU_FWD; break;
    case PostOp::kLeakyRelu:
      op.mode = CUDNN_POINTWISE_RELU_FWD;
      op.slope = post.alpha;
      break;
    case PostOp::kClip:
      // A ReLU between bounds equals max(lower, min(x, upper)) only if the lower bound is 0.
      if (post.alpha != 0) return "clip has a lower bound other than 0";
      op.mode = CUDNN_POINTWISE_RELU_FWD;
      op.bounded = std::isfinite(post.beta);
      op.upper = op.bounded ? post.beta : 0;
      break;
    case PostOp::kSigmoid: op.mode = CUDNN_POINTWISE_SIGMOID_FWD; break;
    case PostOp::kTanh: op.mode = CUDNN_POINTWISE_TANH_FWD; break;
    case PostOp::kSwish:
      op.mode = CUDNN_POINTWISE_SWISH_FWD;
      op.slope = post.alpha;
      break;
    case PostOp::kElu:
      op.mode = CUDNN_POINTWISE_ELU_FWD;
      op.slope = post.alpha;
      break;
    case PostOp::kGeluErf: op.mode = CUDNN_POINTWISE_GELU_FWD; break;
    case PostOp::kGeluTanh: op.mode = CUDNN_POINTWISE_GELU_APPROX_TANH_FWD; break;
    case PostOp::kAdd: op.mode = CUDNN_POINTWISE_ADD; break;
    case PostOp::kMul: op.mode = CUDNN_POINTWISE_MUL; break;
    case PostOp::kSub: op.mode = CUDNN_POINTWISE_SUB; break;
    default: return "a post-op that cuDNN has not";
  }
  if (graph::is_binary(post.op)) {
    if (post.shape == OperandShape::kPerImageChannel)
      return "a post-op's operand has one value per image and channel";
    op.per_channel = post.shape == OperandShape::kPerChannel;
    op.operand = kCudnnFirstOperand + static_cast<int64_t>(plan.operands.size());
    plan.operands.push_back(post.operand);
  }
  plan.convolution.pointwise.push_back(op);
  return {};
}

/// The reason why filters that need padding cannot be padded; empty if they can. Operands that are added to
/// the result or multiplied by it are not padded.
Refusal filter_padding_refusal(const StepRequest& request, const Plan& plan) {
  if (!plan.pads_filters()) return {};
  const int64_t filters = plan.request.geometry.out_channels;
  if (plan.request.geometry.group > 1) return fmt::format("{} output channels in groups, padded", filters);
  if (plan.request.has_bias && !request.graph.value(request.node.inputs[2]).constant)
    return fmt::format("{} output channels, padded, and a bias that is not constant", filters);
  for (const PostOpRequest& post : plan.request.post_ops) {
    if (graph::is_binary(post.op))
      return fmt::format("{} output channels, padded, and a post-op's operand", filters);
  }
  return {};
}

/// Returns an empty refusal if the plan is filled in.
Refusal make_plan(const StepRequest& request, Plan& plan) {
  if (Refusal reason = read_convolution_request(request, plan.request)) return reason;
  const graph::Convolution& geometry = plan.request.geometry;
  const int64_t multiple = tensor::dtype_size(request.storage()) == 2 ? 8 : 4;
  plan.channels = (geometry.in_channels + multiple - 1) / multiple * multiple;
  if (geometry.group > 1 && plan.channels != geometry.in_channels)
    return fmt::format("{} input channels in groups, not a multiple of {}", geometry.in_channels, multiple);
  plan.filters = (geometry.out_channels + multiple - 1) / multiple * multiple;
  if (Refusal reason = filter_padding_refusal(request, plan)) return reason;
  CudnnConvolution& c = plan.convolution;
  c.precision = request.precision();
  const auto& axes = geometry.axes;
  c.x = {geometry.batch, plan.channels, axes[0].input, axes[1].input};
  c.w = {plan.filters, geometry.group > 1 ? geometry.group_inputs() : plan.channels, axes[0].kernel,
         axes[1].kernel};
  c.y = {geometry.batch, plan.filters, axes[0].output, axes[1].output};
  for (const graph::WindowAxis& axis : axes) {
    c.strides.push_back(axis.stride);
    c.dilations.push_back(axis.dilation);
    c.pads_begin.push_back(axis.pad_begin);
    c.pads_end.push_back(axis.pad_end);
  }
  if (plan.request.has_bias) {
    CudnnPointwise bias{CUDNN_POINTWISE_ADD};
    bias.operand = kCudnnFirstOperand;
    bias.per_channel = true;
    c.pointwise.push_back(bias);
    plan.operands.push_back(2);
  }
  for (const PostOpRequest& post : plan.request.post_ops) {
    if (Refusal reason = append(post, plan)) return reason;
  }
  return {};
}

Offer make(Gpu& gpu, CudnnCompiler& cudnn, const StepRequest& request, const Plan& plan,
           std::string_view variant, engine::WeightStore& weights) {
  const auto compiled = cudnn.plan(plan.convolution, variant);
  Offer offer = make_convolution_offer(request, plan.request, DType::kFloat32);
  const graph::Convolution& geometry = plan.request.geometry;
  const PackedConstant filter = pack_filter(gpu, request, 1, request.storage(), FilterOrder::kKrsc,
                                            plan.convolution.w[1], weights, plan.filters);
  offer.packed = {filter.key};
  PackedConstant bias;
  if (plan.pads_filters() && plan.request.has_bias) {
    bias = pack_bias(gpu, request, 2, plan.filters, weights);
    offer.packed.push_back(bias.key);
    offer.inputs[2] = {};
  }

  const bool pads = plan.channels != geometry.in_channels;
  ImageSize image{geometry.batch, geometry.in_channels, geometry.axes[0].input * geometry.axes[1].input};
  const auto scratch_bytes = [&](int64_t pixels, int64_t width) {
    constexpr int64_t kAlignment = 256;
    const int64_t bytes = pixels * width * static_cast<int64_t>(tensor::dtype_size(request.storage()));
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  int64_t image_bytes = 0;
  FloatType source_type = float_type(request.storage());
  if (pads) {
    // An image with few channels is read unchanged and first padded into the scratch memory.
    offer.inputs[0] = {request.inputs[0].dtype, request.inputs[0].shape, Layout::kPlain};
    source_type = float_type(request.inputs[0].dtype);
    image_bytes = scratch_bytes(image.batch * image.pixels, plan.channels);
  }
  const int64_t pixels = geometry.batch * geometry.axes[0].output * geometry.axes[1].output;
  const int64_t result_bytes = plan.pads_filters() ? scratch_bytes(pixels, plan.filters) : 0;
  offer.scratch_bytes = image_bytes + result_bytes + compiled->workspace_bytes();

  std::vector<int64_t> ids = {kCudnnX, kCudnnW, kCudnnY};
  for (size_t i = 0; i < plan.operands.size(); ++i)
    ids.push_back(kCudnnFirstOperand + static_cast<int64_t>(i));
  const FloatType type = float_type(request.storage());
  const auto element_bytes = static_cast<int64_t>(tensor::dtype_size(request.storage()));
  const int64_t row_bytes = geometry.out_channels * element_bytes;
  const int64_t padded_row_bytes = plan.filters * element_bytes;
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution", [=, operands = plan.operands, channels = plan.channels](
                           auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
        const void* x = inputs[0];
        if (pads) {
          const cudaError_t status =
              reorder_padded(inputs[0], source_type, scratch, type, image, channels, options);
          if (status != cudaSuccess) return status;
          x = scratch;
        }
        std::byte* const result = static_cast<std::byte*>(scratch) + image_bytes;
        void* const y = result_bytes > 0 ? result : outputs[0];
        std::vector<void*> pointers = {const_cast<void*>(x), filter.device->data(), y};
        for (const size_t operand : operands) {
          const bool packed = operand == 2 && bias.device != nullptr;
          pointers.push_back(packed ? bias.device->data() : const_cast<void*>(inputs[operand]));
        }
        compiled->execute(options.stream, ids, std::move(pointers), result + result_bytes);
        if (result_bytes == 0) return cudaSuccess;
        return copy_blocks(result, padded_row_bytes, outputs[0], row_bytes, row_bytes, pixels, options);
      });
  return offer;
}

std::vector<std::string> variants(CudnnCompiler& cudnn, const StepRequest& request) {
  Plan plan;
  if (make_plan(request, plan)) return {};
  try {
    return cudnn.configs(plan.convolution, request.exhaustive);
  } catch (const CudnnRefusal&) {
    return {};  // refuse() returns the reason
  }
}

engine::Preparation prepare(CudnnCompiler& cudnn, const StepRequest& request,
                            const std::vector<std::string>& variants) {
  Plan plan;
  return make_plan(request, plan) ? nullptr : cudnn.start(plan.convolution, variants);
}

Offer refuse(CudnnCompiler& cudnn, const StepRequest& request, engine::WeightStore&) {
  Plan plan;
  if (Refusal reason = make_plan(request, plan)) return Offer::refuse(std::move(reason));
  try {
    cudnn.configs(plan.convolution, false);
    return Offer::refuse("cuDNN recommends no engine for it");
  } catch (const CudnnRefusal& error) {
    return Offer::refuse(error.what());
  }
}

Offer offer_variant(Gpu& gpu, CudnnCompiler& cudnn, const StepRequest& request, engine::WeightStore& weights,
                    std::string_view variant) {
  Plan plan;
  if (Refusal reason = make_plan(request, plan)) return Offer::refuse(std::move(reason));
  try {
    return make(gpu, cudnn, request, plan, variant, weights);
  } catch (const CudnnRefusal& error) {
    return Offer::refuse(error.what());
  }
}

}  // namespace

void add_cudnn_tactics(TacticList& list, Gpu& gpu, CudnnCompiler& cudnn) {
  list.push_back({.name = "cudnn",
                  .operators = {"Conv", "FusedConv"},
                  .make = std::bind_front(refuse, std::ref(cudnn)),
                  .list_variants = std::bind_front(variants, std::ref(cudnn)),
                  .make_variant = std::bind_front(offer_variant, std::ref(gpu), std::ref(cudnn)),
                  .prepare = std::bind_front(prepare, std::ref(cudnn))});
}

}  // namespace hone::device::cuda
