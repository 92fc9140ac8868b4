// See resize_tables.hpp.
#include "device/cuda/plugin/tactics/resize_tables.hpp"

#include <algorithm>

#include "graph/resize_taps.hpp"

namespace hone::device::cuda {
namespace {

using engine::StepRequest;

ResizeTables refuse(std::string reason) { return {std::move(reason), {}}; }

/// Reads the optional inputs; returns whether they are constant. An empty one counts as absent.
bool read_inputs(const StepRequest& request, graph::ResizeInputs& inputs) {
  for (size_t i = 1; i < request.node.inputs.size(); ++i) {
    if (!request.node.has_input(i)) continue;
    const tensor::Tensor* constant = request.graph.constant(request.node.input(i));
    if (constant == nullptr) return false;
    if (constant->size() == 0) continue;
    if (i == 1) inputs.roi = constant->to_double();
    if (i == 2) inputs.scales = constant->to_double();
    if (i == 3) inputs.sizes = constant->to_int64();
  }
  return true;
}

ResizeTable table_of(const graph::ResizeOptions& options, const graph::ResizeAxis& axis) {
  ResizeTable table{.input = axis.input, .output = axis.output};
  if (axis.is_identity()) return table;
  const std::vector<graph::ResizeTaps> taps = graph::resize_taps(options, axis);
  size_t most = 1;
  for (const graph::ResizeTaps& at : taps) most = std::max(most, at.positions.size());
  std::vector<int32_t> positions;
  std::vector<float> weights;
  for (const graph::ResizeTaps& at : taps) {
    for (size_t t = 0; t < most; ++t) {
      const bool reads = !at.positions.empty();
      positions.push_back(reads ? static_cast<int32_t>(at.positions[t]) : -1);
      weights.push_back(reads ? static_cast<float>(at.weights[t]) : 0.0f);
    }
  }
  const tensor::Shape shape{axis.output, static_cast<int64_t>(most)};
  table.taps = static_cast<int>(most);
  table.positions = tensor::Tensor::of<int32_t>(positions, shape);
  table.weights = tensor::Tensor::of<float>(weights, shape);
  return table;
}

}  // namespace

ResizeTables resize_tables(const StepRequest& request) {
  const engine::Shape& shape = request.inputs[0].shape;
  if (shape.size() < 3 || shape.size() > 5) return refuse("only images");
  if (tensor::element_count(shape) == 0 || tensor::element_count(request.outputs[0].shape) == 0)
    return refuse("the input or the output is empty");
  if (std::any_of(shape.begin(), shape.end(), [](int64_t length) { return length > INT32_MAX; }))
    return refuse("an axis is too long");
  graph::ResizeInputs inputs;
  if (!read_inputs(request, inputs)) return refuse("regions, scales or sizes are computed");
  const std::vector<graph::ResizeAxis> axes = graph::read_resize(request.node.attributes, shape, inputs);
  if (!axes[0].is_identity() || !axes[1].is_identity()) return refuse("batch or channels are resized");
  const graph::ResizeOptions options(request.node.attributes);
  ResizeTables tables;
  for (size_t i = 2; i < axes.size(); ++i) tables.axes.push_back(table_of(options, axes[i]));
  tables.extrapolation = static_cast<float>(options.extrapolation);
  return tables;
}

}  // namespace hone::device::cuda
