// See node_pads.hpp.
#include "device/cuda/plugin/tactics/node_pads.hpp"

#include <algorithm>

#include "tensor/saturate.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Shape;
using engine::StepRequest;

NodePads refuse(std::string reason) {
  NodePads pads;
  pads.refusal = std::move(reason);
  return pads;
}

PadMode mode_of(const std::string& name) {
  if (name == "edge") return PadMode::kEdge;
  if (name == "reflect") return PadMode::kReflect;
  return name == "wrap" ? PadMode::kWrap : PadMode::kConstant;
}

/// The constant of an input; null if it is computed or absent.
const tensor::Tensor* constant_of(const StepRequest& request, size_t input) {
  return request.node.has_input(input) ? request.graph.constant(request.node.input(input)) : nullptr;
}

/// Number of padded elements before each axis of the input.
Shape pads_before(const StepRequest& request, const std::vector<int64_t>& pads) {
  Shape begin(request.inputs[0].shape.size(), 0);
  if (!request.node.has_input(3)) {
    std::copy_n(pads.begin(), begin.size(), begin.begin());
    return begin;
  }
  const std::vector<int64_t> axes = constant_of(request, 3)->to_int64();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = tensor::normalize_axis(axes[i], static_cast<int64_t>(begin.size()));
    begin[static_cast<size_t>(axis)] = pads[i];
  }
  return begin;
}

}  // namespace

NodePads node_pads(const StepRequest& request, tensor::DType dtype, Layout layout) {
  const Shape& shape = request.inputs[0].shape;
  if (shape.size() > kMostMoved)
    return refuse(fmt::format("it has {} dimensions, {} at most", shape.size(), kMostMoved));
  if (tensor::element_count(shape) == 0 || tensor::element_count(request.outputs[0].shape) == 0)
    return refuse("the input or the output is empty");
  const tensor::Tensor* amounts = constant_of(request, 1);
  const tensor::Tensor* value = constant_of(request, 2);
  if (amounts == nullptr || (request.node.has_input(3) && constant_of(request, 3) == nullptr))
    return refuse("pads or axes are computed");
  NodePads pads;
  pads.mode = mode_of(request.node.attributes.get_string("mode"));
  if (pads.mode == PadMode::kConstant && request.node.has_input(2) && value == nullptr)
    return refuse("the value is computed");
  if (value != nullptr && value->size() != 1) return refuse("the value is no single element");
  pads.sizes = shape;
  pads.begin = pads_before(request, amounts->to_int64());
  pads.output = request.outputs[0].shape;
  if (layout == Layout::kChannelsLast) {
    for (auto* sizes : {&pads.sizes, &pads.begin, &pads.output})
      std::rotate(sizes->begin() + 1, sizes->begin() + 2, sizes->end());
  }
  pads.value.assign(tensor::dtype_size(dtype), std::byte{0});
  if (value != nullptr) {
    const tensor::Tensor converted = tensor::saturated(*value, dtype);
    std::copy_n(converted.bytes(), pads.value.size(), pads.value.begin());
  }
  return pads;
}

}  // namespace hone::device::cuda
