// See convolution_request.hpp.
#include "device/cuda/plugin/convolution_request.hpp"

namespace hone::device::cuda {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

std::string read_convolution_request(const StepRequest& request, ConvolutionRequest& out) {
  const engine::Shape& shape = request.inputs[0].shape;
  if (shape.size() != 4) return "only 2-D convolutions";
  if (request.outputs[0].dtype != DType::kFloat32) return "only float32 models";
  if (!request.graph.value(request.node.inputs[1]).constant) return "the weights are not constant";
  if (tensor::element_count(request.outputs[0].shape) == 0) return "the output is empty";
  if (tensor::element_count(shape) == 0) return "the input is empty";
  out.geometry = graph::read_convolution(request.node.attributes, shape, request.inputs[1].shape);
  auto post_ops = read_post_ops(request, 3);
  if (!post_ops) return "a post-op's operand is broadcast in a way no kernel has";
  out.post_ops = std::move(*post_ops);
  out.has_bias = request.node.has_input(2);
  out.source = {request.compute_dtype, shape, Layout::kChannelsLast};
  out.result = {request.compute_dtype, request.outputs[0].shape, Layout::kChannelsLast};
  return "";
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
        post.shape == PostOpRequest::Shape::kFull
            ? convolution.result
            : TensorDesc{operand_type, request.inputs[post.operand].shape, Layout::kPlain};
  }
  offer.outputs = {convolution.result};
  return offer;
}

Epilogue make_epilogue(const ConvolutionRequest& request, std::span<const void* const> inputs) {
  Epilogue epilogue;
  for (const PostOpRequest& post : request.post_ops) {
    // Both lists are in the order of graph::PostOp.
    PostOpLink& link = epilogue.links[epilogue.count++];
    link.kind = static_cast<PostOpKind>(post.op);
    link.alpha = post.alpha;
    link.beta = post.beta;
    link.full = post.shape == PostOpRequest::Shape::kFull;
    link.channel_stride = 1;
    link.batch_stride =
        post.shape == PostOpRequest::Shape::kPerImageChannel ? request.geometry.out_channels : 0;
    if (graph::is_binary(post.op)) link.operand = inputs[post.operand];
  }
  return epilogue;
}
static_assert(static_cast<int>(PostOpKind::kSub) == static_cast<int>(graph::PostOp::kSub));

}  // namespace hone::device::cuda
