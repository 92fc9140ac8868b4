// Operators that read or write single elements: GatherElements, GatherND, ScatterElements and ScatterND.
#include "device/cuda/plugin/tactics/moved_values.hpp"
#include "device/cuda/plugin/tactics/node_picks.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

Offer offer_picks(const StepRequest& request, engine::WeightStore&) {
  const NodePicks node = node_picks(request);
  if (node.refusal) return Offer::refuse(node.refusal);
  const DType dtype = moved_type(request);
  const TensorDesc& indices = request.inputs[1];
  Offer offer;
  offer.inputs = {{dtype, request.inputs[0].shape, Layout::kPlain},
                  {indices.dtype, indices.shape, Layout::kPlain}};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
  const size_t bytes = tensor::dtype_size(dtype);
  const size_t index_bytes = tensor::dtype_size(indices.dtype);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a gather",
      [=, picks = node.picks](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        if (const auto* elements = std::get_if<ElementPicks>(&picks))
          return gather_elements(inputs[0], inputs[1], index_bytes, outputs[0], bytes, *elements, options);
        return gather_slices(inputs[0], inputs[1], index_bytes, outputs[0], bytes,
                             std::get<SlicePicks>(picks), options);
      },
      tensor::element_count(request.outputs[0].shape) != 0);
  return offer;
}

Offer offer_scatter(const StepRequest& request, engine::WeightStore&) {
  if (request.node.attributes.get_string("reduction") != "none")
    return Offer::refuse("it combines what it writes with what is there");
  const NodePicks node = node_picks(request);
  if (node.refusal) return Offer::refuse(node.refusal);
  const DType dtype = moved_type(request);
  const TensorDesc& indices = request.inputs[1];
  Offer offer;
  offer.inputs = {{dtype, request.inputs[0].shape, Layout::kPlain},
                  {indices.dtype, indices.shape, Layout::kPlain},
                  {dtype, request.inputs[2].shape, Layout::kPlain}};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
  offer.accumulate(0);
  const bool writes = tensor::element_count(request.inputs[2].shape) != 0;
  const size_t bytes = tensor::dtype_size(dtype);
  const size_t index_bytes = tensor::dtype_size(indices.dtype);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a scatter",
      [=, picks = node.picks](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        if (const auto* elements = std::get_if<ElementPicks>(&picks))
          return scatter_elements(inputs[2], inputs[1], index_bytes, outputs[0], bytes, *elements, options);
        return scatter_slices(inputs[2], inputs[1], index_bytes, outputs[0], bytes,
                              std::get<SlicePicks>(picks), options);
      },
      writes);
  return offer;
}

}  // namespace

void add_scatter_tactics(TacticList& list) {
  list.push_back({.name = "gather_picks",
                  .operators = {"GatherElements", "GatherND"},
                  .starts_early = true,
                  .make = offer_picks});
  list.push_back({.name = "scatter_picks",
                  .operators = {"ScatterElements", "ScatterND"},
                  .starts_early = true,
                  .make = offer_scatter});
}

}  // namespace hone::device::cuda
