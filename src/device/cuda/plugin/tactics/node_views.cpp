// See node_views.hpp.
#include "device/cuda/plugin/tactics/node_views.hpp"

#include <algorithm>

#include "graph/image_blocks.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Shape;
using engine::StepRequest;

NodeViews refuse(std::string reason) { return {std::move(reason), {}}; }

/// The integers of a constant input; nullopt if it is computed.
std::optional<std::vector<int64_t>> constant_integers(const StepRequest& request, size_t input) {
  const tensor::Tensor* constant = request.graph.constant(request.node.input(input));
  return constant == nullptr ? std::nullopt : std::optional(constant->to_int64());
}

size_t axis_of(int64_t axis, const Shape& shape) {
  return static_cast<size_t>(tensor::normalize_axis(axis, static_cast<int64_t>(shape.size())));
}

/// Channels-last if input 0 has this layout.
Layout layout_of(const StepRequest& request) {
  return request.inputs[0].layout == Layout::kChannelsLast ? Layout::kChannelsLast : Layout::kPlain;
}

/// Moves the channels to their position in memory: after all other dimensions in channels-last.
void bring_channels(std::vector<int64_t>& dimensions, Layout layout) {
  if (layout == Layout::kChannelsLast)
    std::rotate(dimensions.begin() + 1, dimensions.begin() + 2, dimensions.end());
}

/// Strides of the dimensions in the tensor's own order.
Shape strides_of(const Shape& shape, Layout layout) {
  Shape lying = shape;
  bring_channels(lying, layout);
  Shape strides = tensor::row_major_strides(lying);
  if (layout == Layout::kChannelsLast) std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

StridedView as_it_lies(StridedView view, Layout layout) {
  bring_channels(view.sizes, layout);
  bring_channels(view.strides, layout);
  return view;
}

NodeViews slice(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const Layout layout = layout_of(request);
  StridedView view{request.outputs[0].shape, strides_of(shape, layout), 0};
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
    // A step may be larger than the axis, which then has only one element left.
    if (view.sizes[axis] > 1) view.strides[axis] *= step;
  }
  return {"", {as_it_lies(std::move(view), layout)}, layout};
}

NodeViews split(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const size_t axis = axis_of(request.node.attributes.get_int("axis"), shape);
  const Layout layout = layout_of(request);
  const Shape strides = strides_of(shape, layout);
  NodeViews views{"", {}, layout};
  int64_t offset = 0;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (!request.node.has_output(i)) return refuse("an output is left out");
    const Shape& part = request.outputs[i].shape;
    views.outputs.push_back(as_it_lies({part, strides, offset}, layout));
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

template <auto blocks_of>
NodeViews image_blocks(const StepRequest& request) {
  const Layout layout = layout_of(request);
  graph::ImageBlocks blocks =
      blocks_of(request.node.attributes, request.inputs[0].shape, layout == Layout::kChannelsLast);
  return {"", {{std::move(blocks.sizes), std::move(blocks.strides), 0}}, layout};
}

struct Operator {
  const char* name;
  NodeViews (*views)(const StepRequest& request);
};

constexpr Operator kOperators[] = {
    {"DepthToSpace", image_blocks<graph::depth_to_space_blocks>}, {"Expand", expand}, {"Slice", slice},
    {"SpaceToDepth", image_blocks<graph::space_to_depth_blocks>}, {"Split", split},   {"Tile", tile}};

const Operator& find(const std::string& op) {
  return *std::find_if(std::begin(kOperators), std::end(kOperators),
                       [&](const Operator& known) { return op == known.name; });
}

}  // namespace

std::vector<std::string> node_view_operators() {
  std::vector<std::string> names;
  for (const Operator& known : kOperators) names.emplace_back(known.name);
  return names;
}

NodeViews node_views(const StepRequest& request) {
  for (const engine::TensorDesc& output : request.outputs) {
    if (tensor::element_count(output.shape) == 0) return refuse("an output is empty");
  }
  NodeViews views = find(request.node.op).views(request);
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
