// Merges convolutions that read the same image and whose results are concatenated into one convolution, as at
// the end of a fire module (Iandola et al. 2016). Their filters are placed next to each other, and smaller
// windows are padded with zeros to the largest one. If this adds few products, they are estimated to cost
// less than further launches.
#include <algorithm>
#include <optional>

#include "device/cuda/passes/pass_list.hpp"
#include "graph/convolution_geometry.hpp"
#include "transform/fusion.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

/// Limit on the products of the merged convolution relative to those of its parts.
constexpr int64_t kMostFilling = 2;
/// Limit on the products with zeros for an image; the largest fire modules have 25 million.
constexpr int64_t kMostAdded = int64_t{1} << 25;

/// A convolution whose result is concatenated.
struct Part {
  int32_t index = 0;
  const Node* node = nullptr;
  tensor::Tensor filters = {};
  graph::Window window = {};

  const tensor::Shape& shape() const { return filters.shape(); }
};

int64_t area(const Part& part) { return part.window.kernel[0] * part.window.kernel[1]; }

/// The part with the largest windows.
const Part& largest(const std::vector<Part>& parts) {
  return *std::max_element(parts.begin(), parts.end(),
                           [](const Part& a, const Part& b) { return area(a) < area(b); });
}

/// True if windows of `part` are always inside those of `whole`, and there is the same number of them, for
/// every image size.
bool lies_within(const graph::Window& part, const graph::Window& whole) {
  for (size_t i = 0; i < whole.rank(); ++i) {
    const int64_t before = whole.pads_begin[i] - part.pads_begin[i];
    const int64_t after = whole.pads_end[i] - part.pads_end[i];
    if (part.strides[i] != whole.strides[i] || before < 0 || after < 0 ||
        before + part.kernel[i] + after != whole.kernel[i])
      return false;
  }
  return true;
}

/// Number of pixels of an image with this type, (N, C, H, W); nothing if it is unknown or too large.
std::optional<int64_t> pixels_of(const graph::TensorType& type) {
  const graph::Dim& height = (*type.dims)[2];
  const graph::Dim& width = (*type.dims)[3];
  if (!height.known() || !width.known() || width.value() > kMostAdded / std::max<int64_t>(height.value(), 1))
    return std::nullopt;
  return height.value() * width.value();
}

bool same_activations(const Node& a, const Node& b) {
  const PostOps first = post_ops_of(a);
  const PostOps second = post_ops_of(b);
  return first.extras.empty() && second.extras.empty() && first.ops == second.ops &&
         first.alphas == second.alphas && first.betas == second.betas;
}

/// The parts of a concatenation along channels, if all operands are convolutions that nothing else reads;
/// else empty.
std::vector<Part> parts_of(const Editor& editor, const Node& concat) {
  const graph::TensorType& type = editor.graph().value(concat.outputs[0]).type;
  if (concat.inputs.size() < 2 || !type.dims || type.dims->size() != 4) return {};
  const int64_t axis = concat.attributes.get_int("axis");
  if (axis != 1 && axis != -3) return {};
  std::vector<Part> parts;
  for (const ValueId input : concat.inputs) {
    const int32_t producer = editor.producer(input);
    if (producer < 0 || !editor.read_once(input)) return {};
    const Node& node = editor.node(producer);
    if (node.op != "Conv" && node.op != "FusedConv") return {};
    if (node.inputs[0] != editor.node(editor.producer(concat.inputs[0])).inputs[0]) return {};
    parts.push_back({.index = producer, .node = &node});
  }
  return parts;
}

/// Reads filters and windows; returns why the parts are not merged, or an empty refusal.
Refusal refusal(const Graph& graph, const Node& concat, std::vector<Part>& parts) {
  for (Part& part : parts) {
    const auto& filters = graph.value(part.node->inputs[1]).constant;
    if (!filters || (part.node->has_input(2) && !graph.value(part.node->inputs[2]).constant))
      return fmt::format("the filters or the bias of '{}' are not constant", part.node->name);
    if (filters->dtype() != graph::DType::kFloat32) return "the filters are not float32";
    part.filters = *filters;
    part.window = graph::read_window(part.node->attributes, {part.shape()[2], part.shape()[3]});
    if (part.node->attributes.get_int("group") != 1 || !all_are(part.window.dilations, 1) ||
        part.window.auto_pad != graph::AutoPad::kNotSet)
      return fmt::format("'{}' has groups, dilations or automatic padding", part.node->name);
    if (!same_activations(*part.node, *parts[0].node))
      return fmt::format("'{}' and '{}' end differently", parts[0].node->name, part.node->name);
  }
  const Part& whole = largest(parts);
  int64_t products = 0;
  int64_t all_filters = 0;
  for (const Part& part : parts) {
    if (part.shape()[1] != parts[0].shape()[1])
      return fmt::format("'{}' and '{}' read other numbers of channels", parts[0].node->name,
                         part.node->name);
    if (!lies_within(part.window, whole.window))
      return fmt::format("windows of '{}' do not lie within those of '{}'", part.node->name,
                         whole.node->name);
    products += part.shape()[0] * area(part);
    all_filters += part.shape()[0];
  }
  const int64_t all_products = all_filters * area(whole);
  if (all_products > kMostFilling * products)
    return fmt::format("one convolution would have more than {} times the products", kMostFilling);
  const int64_t added = (all_products - products) * whole.shape()[1];
  const std::optional<int64_t> pixels = pixels_of(graph.value(concat.outputs[0]).type);
  if (added > 0 && (!pixels || added > kMostAdded / std::max<int64_t>(*pixels, 1)))
    return fmt::format("one convolution could have more than {} products with zeros", kMostAdded);
  return {};
}

/// The filters of all parts with the channels and the windows of the largest; smaller windows are padded with
/// zeros.
tensor::Tensor join_filters(const std::vector<Part>& parts) {
  const Part& whole = largest(parts);
  tensor::Shape shape = whole.shape();
  shape[0] = 0;
  for (const Part& part : parts) shape[0] += part.shape()[0];
  tensor::Tensor result(graph::DType::kFloat32, shape);
  std::ranges::fill(result.mutable_values<float>(), 0.0F);
  float* plane = result.mutable_values<float>().data();
  for (const Part& part : parts) {
    const float* from = part.filters.values<float>().data();
    const int64_t rows = part.shape()[2];
    const int64_t columns = part.shape()[3];
    const int64_t row = whole.window.pads_begin[0] - part.window.pads_begin[0];
    const int64_t column = whole.window.pads_begin[1] - part.window.pads_begin[1];
    for (int64_t i = 0; i < part.shape()[0] * shape[1]; ++i, plane += area(whole)) {
      for (int64_t r = 0; r < rows; ++r, from += columns)
        std::copy_n(from, columns, plane + (row + r) * shape[3] + column);
    }
  }
  return result;
}

/// A part without a bias gets zeros; the result is no value if no part has a bias.
ValueId join_biases(Editor& editor, const std::vector<Part>& parts) {
  std::vector<float> values;
  bool any = false;
  for (const Part& part : parts) {
    if (part.node->has_input(2)) {
      const auto bias = editor.graph().value(part.node->inputs[2]).constant->values<float>();
      values.insert(values.end(), bias.begin(), bias.end());
      any = true;
    } else {
      values.resize(values.size() + static_cast<size_t>(part.shape()[0]));
    }
  }
  if (!any) return graph::kNoValue;
  const auto count = static_cast<int64_t>(values.size());
  return editor.add_constant(parts[0].node->name + ".bias", tensor::Tensor::of(values, {count}));
}

Node join(Editor& editor, const Node& concat, const std::vector<Part>& parts) {
  const Node& whole = *largest(parts).node;
  std::vector<const Node*> nodes;
  for (const Part& part : parts) nodes.push_back(part.node);
  nodes.push_back(&concat);
  std::vector<ValueId> inputs = {whole.inputs[0],
                                 editor.add_constant(parts[0].node->name + ".weight", join_filters(parts))};
  if (const ValueId bias = join_biases(editor, parts); bias != graph::kNoValue) inputs.push_back(bias);
  Node joined = derived_node(concat, whole.op, std::move(inputs));
  for (const auto& [name, value] : whole.attributes) joined.attributes.set(name, value);
  join_names(joined, nodes);
  return joined;
}

}  // namespace

Summary concatenated_convolution_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || editor.node(i).op != "Concat") continue;
    const Node concat = editor.node(i);
    std::vector<Part> parts = parts_of(editor, concat);
    if (parts.empty()) continue;
    if (const Refusal reason = refusal(graph, concat, parts)) {
      summary.refuse(fmt::format("the convolutions of '{}' not fused: {}", concat.name, reason.text()));
      continue;
    }
    Node joined = join(editor, concat, parts);
    summary.change(fmt::format("{} convolutions and '{}' became one", parts.size(), concat.name));
    for (const Part& part : parts) editor.remove(part.index);
    editor.replace(i, std::move(joined));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
