// See node_views.hpp.
#include "device/cuda/plugin/node_views.hpp"

#include <algorithm>

namespace hone::device::cuda {
namespace {

using engine::Shape;
using engine::StepRequest;

NodeViews refuse(std::string reason) { return {std::move(reason), {}}; }

/// The integers of a constant input; nullopt when it is computed.
std::optional<std::vector<int64_t>> constant_integers(const StepRequest& request, size_t input) {
  const tensor::Tensor* constant = request.graph.constant(request.node.input(input));
  return constant == nullptr ? std::nullopt : std::optional(constant->to_int64());
}

size_t axis_of(int64_t axis, const Shape& shape) {
  return static_cast<size_t>(tensor::normalize_axis(axis, static_cast<int64_t>(shape.size())));
}

NodeViews slice(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  StridedView view{request.outputs[0].shape, tensor::row_major_strides(shape), 0};
  const auto starts = constant_integers(request, 1);
  auto axes = std::optional(std::vector<int64_t>());
  auto steps = axes;
  if (request.node.has_input(3)) axes = constant_integers(request, 3);
  if (request.node.has_input(4)) steps = constant_integers(request, 4);
  if (!starts || !axes || !steps) return refuse("starts, axes or steps are computed");
  for (size_t i = 0; i < starts->size(); ++i) {
    const size_t axis = axes->empty() ? i : axis_of((*axes)[i], shape);
    const int64_t step = steps->empty() ? 1 : (*steps)[i];
    const int64_t length = shape[axis];
    const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + length : (*starts)[i];
    view.offset += std::clamp<int64_t>(start, 0, step > 0 ? length : length - 1) * view.strides[axis];
    // A step may be larger than any axis, of which one element is left then.
    if (view.sizes[axis] > 1) view.strides[axis] *= step;
  }
  return {"", {view}};
}

NodeViews split(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const size_t axis = axis_of(request.node.attributes.get_int("axis"), shape);
  const Shape strides = tensor::row_major_strides(shape);
  NodeViews views;
  int64_t offset = 0;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (!request.node.has_output(i)) return refuse("an output is left out");
    const Shape& part = request.outputs[i].shape;
    views.outputs.push_back({part, strides, offset});
    offset += part[axis] * strides[axis];
  }
  return views;
}

NodeViews expand(const StepRequest& request) {
  const Shape& wanted = request.outputs[0].shape;
  return {"", {{wanted, tensor::broadcast_strides(request.inputs[0].shape, wanted), 0}}};
}

NodeViews tile(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const Shape strides = tensor::row_major_strides(shape);
  StridedView view;
  for (size_t i = 0; i < shape.size(); ++i) {
    view.sizes.insert(view.sizes.end(), {request.outputs[0].shape[i] / shape[i], shape[i]});
    view.strides.insert(view.strides.end(), {0, strides[i]});
  }
  return {"", {view}};
}

/// Both read [batch][channels][height][width] in blocks of `size` by `size` pixels; ONNX's specification of
/// DepthToSpace gives the order of channels in its two modes.
NodeViews depth_to_space(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const int64_t size = request.node.attributes.get_int("blocksize");
  const Shape strides = tensor::row_major_strides(shape);
  const int64_t channels = shape[1] / (size * size);
  const bool columns_first = request.node.attributes.get_string("mode") == "CRD";
  const int64_t channel = columns_first ? size * size * strides[1] : strides[1];
  const int64_t column = columns_first ? strides[1] : channels * strides[1];
  return {"",
          {{{shape[0], channels, shape[2], size, shape[3], size},
            {strides[0], channel, strides[2], size * column, strides[3], column},
            0}}};
}

NodeViews space_to_depth(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const int64_t size = request.node.attributes.get_int("blocksize");
  const Shape strides = tensor::row_major_strides(shape);
  return {"",
          {{{shape[0], size, size, shape[1], shape[2] / size, shape[3] / size},
            {strides[0], strides[2], strides[3], strides[1], size * strides[2], size * strides[3]},
            0}}};
}

struct Operator {
  const char* name;
  NodeViews (*views)(const StepRequest& request);
};

constexpr Operator kOperators[] = {{"DepthToSpace", depth_to_space}, {"Expand", expand}, {"Slice", slice},
                                   {"SpaceToDepth", space_to_depth}, {"Split", split},   {"Tile", tile}};

const Operator* find(const std::string& op) {
  const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](const Operator& known) { return op == known.name; });
  return found == std::end(kOperators) ? nullptr : found;
}

}  // namespace

bool is_node_view(const std::string& op) { return find(op) != nullptr; }

NodeViews node_views(const StepRequest& request) {
  for (const engine::TensorDesc& output : request.outputs) {
    if (tensor::element_count(output.shape) == 0) return refuse("an output is empty");
  }
  NodeViews views = find(request.node.op)->views(request);
  for (const StridedView& view : views.outputs) {
    const size_t moved = merged(view).sizes.size();
    if (moved > kMostMoved)
      return refuse(fmt::format("it moves {} dimensions, {} at most", moved, kMostMoved));
  }
  return views;
}

MiddleAxes around_axis(const Shape& shape, size_t axis) {
  const std::span<const int64_t> sizes = shape;
  return {tensor::element_count(sizes.first(axis)), shape[axis],
          tensor::element_count(sizes.subspan(axis + 1))};
}

std::optional<MiddleAxes> middle_axes(const Shape& shape, const std::vector<int64_t>& axes) {
  MiddleAxes result;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool inside = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (shape[i] == 1) continue;
    if (inside && result.inner > 1) return std::nullopt;
    (inside ? result.axis : result.axis > 1 ? result.inner : result.outer) *= shape[i];
  }
  return result;
}

StridedView axes_last(const Shape& shape, const std::vector<int64_t>& axes) {
  const Shape strides = tensor::row_major_strides(shape);
  StridedView view;
  for (const bool last : {false, true}) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if ((std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end()) != last) continue;
      view.sizes.push_back(shape[i]);
      view.strides.push_back(strides[i]);
    }
  }
  return view;
}

}  // namespace hone::device::cuda
