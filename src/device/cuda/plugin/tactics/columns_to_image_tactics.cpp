// Runs Col2Im with hone's own kernel.
#include "device/cuda/plugin/kernels/layers/columns_to_image.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;

Offer offer_columns_to_image(const StepRequest& request, engine::WeightStore&) {
  const tensor::Tensor* const image = request.graph.constant(request.node.input(1));
  const tensor::Tensor* const block = request.graph.constant(request.node.input(2));
  if (image == nullptr || block == nullptr)
    return Offer::refuse("the sizes of image and block are not constant");
  const auto axes = graph::resolve_window(graph::read_window(request.node.attributes, block->to_int64()),
                                          image->to_int64());
  if (axes.size() > ColumnsToImage::kAxes) return Offer::refuse("only 1, 2 and 3 spatial axes");
  ColumnsToImage size;
  size.planes = request.outputs[0].shape[0] * request.outputs[0].shape[1];
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t at = ColumnsToImage::kAxes - axes.size() + i;
    size.image[at] = axes[i].input;
    size.block[at] = axes[i].kernel;
    size.places[at] = axes[i].output;
    size.strides[at] = axes[i].stride;
    size.dilations[at] = axes[i].dilation;
    size.pads[at] = axes[i].pad_begin;
  }
  Offer offer;
  offer.inputs = request.inputs;
  offer.inputs[0] = {request.storage(), request.inputs[0].shape, Layout::kPlain};
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  const FloatType type = float_type(request.storage());
  offer.kernel = std::make_shared<LaunchKernel>(
      "a sum of columns", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return columns_to_image(inputs[0], outputs[0], type, size, options);
      });
  return offer;
}

}  // namespace

void add_columns_to_image_tactics(TacticList& list) {
  list.push_back({.name = "columns_to_image",
                  .operators = {"Col2Im"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_columns_to_image});
}

}  // namespace hone::device::cuda
