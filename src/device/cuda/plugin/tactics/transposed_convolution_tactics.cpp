// Runs ConvTranspose with hone's own kernel.
#include "device/cuda/plugin/kernels/convolution/transposed_convolution.hpp"

#include <utility>

#include "device/cuda/plugin/tactics/convolution_size.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

/// `geometry` is that of the convolution whose gradient this is, so its output is the input here.
ConvolutionSize transposed_size(const graph::Convolution& geometry) {
  ConvolutionSize size = convolution_size(geometry);
  std::swap(size.in_channels, size.out_channels);
  std::swap(size.input, size.output);
  return size;
}

Offer offer_transposed_convolution(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  const Shape& filter = request.inputs[1].shape;
  const DType dtype = request.storage();
  const Layout layout = engine::layout_for_shape(request.layout, shape);
  Offer offer;
  // Channels-last weights have the output's channels innermost, where adjacent threads read them.
  offer.inputs = {{dtype, shape, layout}, {dtype, filter, layout}};
  const bool has_bias = request.node.has_input(2);
  if (has_bias) offer.inputs.push_back({DType::kFloat32, request.inputs[2].shape, Layout::kPlain});
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{dtype, request.outputs[0].shape, layout}};
  const ConvolutionSize size =
      transposed_size(graph::read_transposed_convolution(request.node.attributes, shape, filter));
  const FloatType type = float_type(dtype);
  const ImageOrder order = image_order(layout);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a transposed convolution", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ConvolutionArguments arguments;
        arguments.input = inputs[0];
        arguments.weights = inputs[1];
        arguments.bias = has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
        arguments.output = outputs[0];
        return transposed_convolution(arguments, type, order, size, options);
      });
  return offer;
}

}  // namespace

void add_transposed_convolution_tactics(TacticList& list) {
  list.push_back({.name = "transposed_convolution",
                  .operators = {"ConvTranspose"},
                  .requirements = {engine::only_float32, engine::one_to_three_axes},
                  .make = offer_transposed_convolution});
}

}  // namespace hone::device::cuda
