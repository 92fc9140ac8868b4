// See convolution_request.hpp.
#include "device/cuda/plugin/tactics/convolution_request.hpp"

#include "engine/requirements.hpp"

namespace hone::device::cuda {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

Refusal read_convolution_request(const StepRequest& request, ConvolutionRequest& out) {
  const engine::Shape& shape = request.inputs[0].shape;
  if (shape.size() != 4) return "only 2-D convolutions";
  if (Refusal reason = engine::only_float32(request)) return reason;
  if (!request.graph.value(request.node.inputs[1]).constant) return "the weights are not constant";
  if (Refusal reason = engine::nonempty_output(request)) return reason;
  if (Refusal reason = engine::nonempty_input(request)) return reason;
  out.geometry = graph::read_convolution(request.node.attributes, shape, request.inputs[1].shape);
  if (!fits_in_int(out.geometry.axes)) return "a window beyond 2^31";
  auto post_ops = read_post_ops(request, 3);
  if (!post_ops) return "a post-op's operand is broadcast in a way no kernel has";
  out.post_ops = std::move(*post_ops);
  out.has_bias = request.node.has_input(2);
  out.source = {request.storage(), shape, Layout::kChannelsLast};
  out.result = {request.storage(), request.outputs[0].shape, Layout::kChannelsLast};
  return {};
}

Element element_of(const StepRequest& request) {
  if (request.policy.compute == engine::Compute::kTf32) return Element::kTf32;
  switch (request.storage()) {
    case DType::kFloat16: return Element::kHalf;
    case DType::kBFloat16: return Element::kBFloat16;
    default: return Element::kFloat;
  }
}

ConvProblem conv_problem(const graph::Convolution& geometry, Element element) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  const graph::WindowAxis& y = geometry.axes[0];
  const graph::WindowAxis& x = geometry.axes[1];
  ConvProblem p;
  p.element = element;
  p.batch = narrow(geometry.batch);
  p.height = narrow(y.input);
  p.width = narrow(x.input);
  p.channels = narrow(geometry.in_channels);
  p.filters = narrow(geometry.out_channels);
  p.kernel_h = narrow(y.kernel);
  p.kernel_w = narrow(x.kernel);
  p.stride_h = narrow(y.stride);
  p.stride_w = narrow(x.stride);
  p.dilation_h = narrow(y.dilation);
  p.dilation_w = narrow(x.dilation);
  p.pad_top = narrow(y.pad_begin);
  p.pad_left = narrow(x.pad_begin);
  // The padding implied by the output's size, including ceil mode or cropping.
  p.pad_bottom = narrow((y.output - 1) * y.stride + y.extent() - y.input - y.pad_begin);
  p.pad_right = narrow((x.output - 1) * x.stride + x.extent() - x.input - x.pad_begin);
  return p;
}

ConvArgs conv_args(const std::vector<PostOpRequest>& post_ops) {
  if (post_ops.size() > kMaxEpilogueSteps) fail_internal("more post-ops than a kernel takes");
  ConvArgs args;
  for (const PostOpRequest& post : post_ops) {
    EpilogueStep& step = args.steps[static_cast<size_t>(args.step_count++)];
    step.op = post.op;
    step.alpha = post.alpha;
    step.beta = post.beta;
    step.shape = post.shape;
  }
  return args;
}

ConvArgs conv_args(const ConvolutionRequest& request) { return conv_args(request.post_ops); }

void bind_steps(const std::vector<PostOpRequest>& post_ops, std::span<const void* const> inputs,
                ConvArgs& args) {
  for (size_t i = 0; i < post_ops.size(); ++i) {
    if (graph::is_binary(post_ops[i].op)) args.steps[i].operand = inputs[post_ops[i].operand];
  }
}

Offer make_convolution_offer(const StepRequest& request, const ConvolutionRequest& convolution,
                             DType operand_type) {
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = convolution.source;
  if (convolution.has_bias) offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
  for (const PostOpRequest& post : convolution.post_ops) {
    if (!graph::is_binary(post.op)) continue;
    offer.inputs[post.operand] =
        post.shape == OperandShape::kFull
            ? convolution.result
            : TensorDesc{operand_type, request.inputs[post.operand].shape, Layout::kPlain};
  }
  offer.outputs = {convolution.result};
  return offer;
}

Epilogue make_epilogue(const ConvolutionRequest& request, std::span<const void* const> inputs) {
  Epilogue epilogue;
  for (const PostOpRequest& post : request.post_ops) {
    PostOpLink& link = epilogue.links[epilogue.count++];
    link.op = post.op;
    link.alpha = post.alpha;
    link.beta = post.beta;
    link.full = post.shape == OperandShape::kFull;
    link.channel_stride = 1;
    link.batch_stride = post.shape == OperandShape::kPerImageChannel ? request.geometry.out_channels : 0;
    if (graph::is_binary(post.op)) link.operand = inputs[post.operand];
  }
  return epilogue;
}

}  // namespace hone::device::cuda
