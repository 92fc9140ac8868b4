// See strided_view.hpp.
#include "graph/strided_view.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace hone::graph {
namespace {

using tensor::Shape;

/// Limit on the nodes between a value and its base; only malicious files have more.
constexpr size_t kMostNodes = 32;
/// Limit on the elements of each value that is looked through, so that no stride overflows.
constexpr double kMostElements = 1e17;

/// A length that stands for a symbol: it is unlikely to be the length of another dimension, and equal symbols
/// have equal ones.
int64_t stand_in(const std::string& symbol) {
  constexpr int64_t kFirst = 10'007;
  return kFirst + 2 * static_cast<int64_t>(std::hash<std::string>{}(symbol) % 10'000);
}

std::optional<Shape> shape_of(const Graph& graph, ValueId id) {
  const TensorType& type = graph.value(id).type;
  if (!type.ranked()) return std::nullopt;
  Shape shape;
  double elements = 1;
  for (const Dim& dim : *type.dims) {
    if (!dim.known() && dim.symbol().empty()) return std::nullopt;
    shape.push_back(dim.known() ? dim.value() : stand_in(dim.symbol()));
    elements *= static_cast<double>(shape.back());
  }
  return elements > kMostElements ? std::nullopt : std::optional(std::move(shape));
}

std::optional<std::vector<int64_t>> integers(const Graph& graph, ValueId id) {
  const Tensor* constant = graph.constant(id);
  return constant == nullptr ? std::nullopt : std::optional(constant->to_int64());
}

int64_t length_of(const std::vector<StridedLoop>& loops) {
  int64_t length = 1;
  for (const StridedLoop& loop : loops) length *= loop.length;
  return length;
}

std::optional<size_t> axis_in(const StridedView& view, int64_t axis) {
  const auto rank = static_cast<int64_t>(view.dimensions.size());
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

bool transpose(const Node& node, StridedView& view) {
  auto order = node.attributes.get_or<std::vector<int64_t>>("perm", {});
  const size_t rank = view.dimensions.size();
  if (order.empty()) {
    for (size_t i = rank; i > 0; --i) order.push_back(static_cast<int64_t>(i - 1));
  }
  if (order.size() != rank) return false;
  const auto from = view.dimensions;
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = axis_in(view, order[i]);
    if (!axis) return false;
    view.dimensions[i] = from[*axis];
  }
  return true;
}

/// Keeps `length` elements of a dimension, beginning with `start`; false if the dimension has several loops.
bool cut(StridedView& view, size_t axis, int64_t start, int64_t length) {
  const auto stride = view.stride(axis);
  if (!stride) return false;
  view.offset += start * *stride;
  view.dimensions[axis] =
      length == 1 ? std::vector<StridedLoop>{} : std::vector<StridedLoop>{{length, *stride}};
  return true;
}

bool slice(const Graph& graph, const Node& node, const Shape& shape, StridedView& view) {
  const auto starts = integers(graph, node.input(1));
  auto axes = std::optional(std::vector<int64_t>());
  auto steps = axes;
  if (node.has_input(3)) axes = integers(graph, node.input(3));
  if (node.has_input(4)) steps = integers(graph, node.input(4));
  if (!starts || !axes || !steps || shape.size() != view.dimensions.size()) return false;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = axis_in(view, i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i));
    if (!axis || (i < steps->size() && (*steps)[i] != 1)) return false;
    const int64_t length = length_of(view.dimensions[*axis]);
    const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + length : (*starts)[i];
    if (!cut(view, *axis, std::clamp<int64_t>(start, 0, length), shape[*axis])) return false;
  }
  return true;
}

bool split(const Graph& graph, const Node& node, ValueId id, const Shape& shape, StridedView& view) {
  const auto axis = axis_in(view, node.attributes.get_int("axis"));
  if (!axis || shape.size() != view.dimensions.size()) return false;
  int64_t start = 0;
  for (const ValueId output : node.outputs) {
    if (output == id) return cut(view, *axis, start, shape[*axis]);
    const auto part = output == kNoValue ? std::nullopt : shape_of(graph, output);
    if (!part) return false;
    start += (*part)[*axis];
  }
  return false;
}

bool gather(const Graph& graph, const Node& node, StridedView& view) {
  const Tensor* indices = graph.constant(node.input(1));
  if (indices == nullptr || indices->size() != 1 || indices->shape().size() > 1) return false;
  const auto axis = axis_in(view, node.attributes.get_int("axis"));
  if (!axis) return false;
  const int64_t length = length_of(view.dimensions[*axis]);
  const int64_t index = indices->to_int64()[0];
  if (index < -length || index >= length || !cut(view, *axis, index < 0 ? index + length : index, 1))
    return false;
  if (indices->shape().empty()) view.dimensions.erase(view.dimensions.begin() + static_cast<int64_t>(*axis));
  return true;
}

/// Turns the view of a node's input 0 into one of its result `id`, which has this shape; false if it cannot.
bool apply(const Graph& graph, const Node& node, ValueId id, const Shape& shape, StridedView& view) {
  if (node.op == "Transpose") return transpose(node, view);
  if (node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze")
    return reshape_view(view, shape);
  if (node.op == "Expand") return broadcast_view(view, shape);
  if (node.op == "Slice") return slice(graph, node, shape, view);
  if (node.op == "Split") return split(graph, node, id, shape, view);
  return node.op == "Gather" && gather(graph, node, view);
}

StridedView follow(const Graph& graph, const Links& links, ValueId id, size_t most) {
  const auto shape = shape_of(graph, id);
  if (!shape) return {.base = id};
  StridedView own = plain_view(id, *shape);
  const int32_t producer = links.producer_of(id);
  if (producer < 0 || most == 0) return own;
  const Node& node = graph.nodes[static_cast<size_t>(producer)];
  if (!node.has_input(0) || !shape_of(graph, node.inputs[0])) return own;
  StridedView view = follow(graph, links, node.inputs[0], most - 1);
  if (!apply(graph, node, id, *shape, view) || view.shape() != *shape) return own;
  view.nodes.push_back(producer);
  return view;
}

/// All loops of a view, with adjacent loops merged if a single loop can replace them.
std::vector<StridedLoop> merged_loops(const StridedView& view) {
  std::vector<StridedLoop> loops;
  for (const auto& dimension : view.dimensions) {
    for (const StridedLoop& loop : dimension) {
      if (!loops.empty() && loops.back().stride == loop.stride * loop.length) {
        loops.back() = {loops.back().length * loop.length, loop.stride};
      } else {
        loops.push_back(loop);
      }
    }
  }
  return loops;
}

}  // namespace

Shape StridedView::shape() const {
  Shape shape;
  for (const auto& loops : dimensions) shape.push_back(length_of(loops));
  return shape;
}

std::optional<int64_t> StridedView::stride(size_t dimension) const {
  const std::vector<StridedLoop>& loops = dimensions[dimension];
  if (loops.size() > 1) return std::nullopt;
  return loops.empty() ? 0 : loops[0].stride;
}

std::vector<int64_t> StridedView::leading_offsets(size_t count) const {
  std::vector<int64_t> offsets = {offset};
  for (size_t i = 0; i < count; ++i) {
    for (const StridedLoop& loop : dimensions[i]) {
      std::vector<int64_t> next;
      for (const int64_t from : offsets) {
        for (int64_t j = 0; j < loop.length; ++j) next.push_back(from + j * loop.stride);
      }
      offsets = std::move(next);
    }
  }
  return offsets;
}

StridedView plain_view(ValueId base, const Shape& shape) {
  StridedView view{.base = base};
  const Shape strides = tensor::row_major_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    view.dimensions.emplace_back();
    if (shape[i] != 1) view.dimensions.back().push_back({shape[i], strides[i]});
  }
  return view;
}

StridedView strided_view(const Graph& graph, const Links& links, ValueId id) {
  return follow(graph, links, id, kMostNodes);
}

bool broadcast_view(StridedView& view, const Shape& shape) {
  if (shape.size() < view.dimensions.size()) return false;
  view.dimensions.insert(view.dimensions.begin(), shape.size() - view.dimensions.size(), {});
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t length = length_of(view.dimensions[i]);
    if (length == shape[i]) continue;
    if (length != 1) return false;
    view.dimensions[i] = {{shape[i], 0}};
  }
  return true;
}

bool reshape_view(StridedView& view, const Shape& shape) {
  std::vector<StridedLoop> left = merged_loops(view);
  std::vector<std::vector<StridedLoop>> dimensions(shape.size());
  for (size_t i = shape.size(); i > 0; --i) {
    int64_t wanted = shape[i - 1];
    while (wanted != 1) {
      if (left.empty() || wanted == 0) return false;
      StridedLoop& loop = left.back();
      const int64_t taken = std::min(wanted, loop.length);
      if (taken < 1 || wanted % taken != 0 || loop.length % taken != 0) return false;
      dimensions[i - 1].insert(dimensions[i - 1].begin(), {taken, loop.stride});
      wanted /= taken;
      loop = {loop.length / taken, loop.stride * taken};
      if (loop.length == 1) left.pop_back();
    }
  }
  if (!left.empty()) return false;
  view.dimensions = std::move(dimensions);
  return true;
}

bool align_loops(const std::vector<StridedView*>& views, size_t dimension) {
  std::vector<std::vector<StridedLoop>> left;
  for (StridedView* view : views) left.push_back(std::exchange(view->dimensions[dimension], {}));
  const auto is_done = [](const std::vector<StridedLoop>& loops) { return loops.empty(); };
  while (std::none_of(left.begin(), left.end(), is_done)) {
    int64_t taken = left[0].back().length;
    for (const auto& loops : left) taken = std::min(taken, loops.back().length);
    if (taken < 2) return false;
    for (size_t i = 0; i < views.size(); ++i) {
      StridedLoop& loop = left[i].back();
      if (loop.length % taken != 0) return false;
      auto& aligned = views[i]->dimensions[dimension];
      aligned.insert(aligned.begin(), {taken, loop.stride});
      loop = {loop.length / taken, loop.stride * taken};
      if (loop.length == 1) left[i].pop_back();
    }
  }
  return std::all_of(left.begin(), left.end(), is_done);
}

}  // namespace hone::graph
