// See lower.hpp. Versions are those of the ONNX operator changelog.
#include "import/onnx/lower.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "graph/operator.hpp"

namespace hone::importer {
namespace {

using graph::Attribute;
using graph::Graph;
using graph::kNoValue;
using graph::Node;

/// Operators that were added after opset 13.
struct Newcomer {
  std::string_view op;
  int since;
};
constexpr Newcomer kNewcomers[] = {
    {"BitCast", 26},
    {"BitwiseAnd", 18},
    {"BitwiseNot", 18},
    {"BitwiseOr", 18},
    {"BitwiseXor", 18},
    {"BlackmanWindow", 17},
    {"CastLike", 15},
    {"CenterCropPad", 18},
    {"Col2Im", 18},
    {"DFT", 17},
    {"Gelu", 20},
    {"GridSample", 16},
    {"GroupNormalization", 21},
    {"HammingWindow", 17},
    {"HannWindow", 17},
    {"HardSwish", 14},
    {"LayerNormalization", 17},
    {"MelWeightMatrix", 17},
    {"Mish", 18},
    {"STFT", 17},
    {"Trilu", 14},
    {"AffineGrid", 20},
};

/// Attributes that were added after opset 13, and the value for which they behave as the older form.
struct AddedAttribute {
  std::string_view op;
  std::string_view name;
  int since;
  Attribute implied;
};

const std::vector<AddedAttribute>& added_attributes() {
  static const std::vector<AddedAttribute> kAdded = {
      {"AveragePool", "dilations", 19, std::vector<int64_t>{}},
      {"BatchNormalization", "training_mode", 14, int64_t{0}},
      {"Cast", "saturate", 19, int64_t{1}},
      {"CastLike", "saturate", 19, int64_t{1}},
      {"DequantizeLinear", "block_size", 21, int64_t{0}},
      {"GRU", "layout", 14, int64_t{0}},
      {"LSTM", "layout", 14, int64_t{0}},
      {"QuantizeLinear", "block_size", 21, int64_t{0}},
      {"QuantizeLinear", "output_dtype", 21, int64_t{0}},
      {"QuantizeLinear", "saturate", 19, int64_t{1}},
      {"RNN", "layout", 14, int64_t{0}},
      {"Reshape", "allowzero", 14, int64_t{0}},
      {"Resize", "antialias", 18, int64_t{0}},
      {"Resize", "axes", 18, std::vector<int64_t>{}},
      {"Resize", "keep_aspect_ratio_policy", 18, std::string("stretch")},
      {"RoiAlign", "coordinate_transformation_mode", 16, std::string("output_half_pixel")},
      {"ScatterElements", "reduction", 16, std::string("none")},
      {"ScatterND", "reduction", 16, std::string("none")},
      {"Shape", "end", 15, std::string()},  // no value behaves as the older form
      {"Shape", "start", 15, int64_t{0}},
  };
  return kAdded;
}

bool means_nothing(const Attribute& value, const AddedAttribute& added) {
  if (value.index() != added.implied.index()) return false;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    const bool ones = std::all_of(list->begin(), list->end(), [](int64_t v) { return v == 1; });
    return list->empty() || (added.name == "dilations" && ones);
  }
  if (const auto* number = std::get_if<int64_t>(&value)) return *number == std::get<int64_t>(added.implied);
  if (const auto* text = std::get_if<std::string>(&value))
    return *text == std::get<std::string>(added.implied);
  return false;
}

void drop_added_attributes(Node& node, int opset) {
  for (const AddedAttribute& added : added_attributes()) {
    if (added.op != node.op || opset >= added.since) continue;
    const Attribute* value = node.attributes.find(added.name);
    if (value == nullptr) continue;
    if (!means_nothing(*value, added)) {
      fail_bad_input("attribute '{}' needs opset {}, the export asks for {}", added.name, added.since, opset);
    }
    node.attributes.erase(added.name);
  }
}

bool is_reduction(const std::string& op) { return op.starts_with("Reduce") && op != "ReduceSum"; }

/// Removes input i, which is an attribute in the older form, and returns its constant integers.
std::optional<std::vector<int64_t>> take_constant(const Graph& graph, Node& node, size_t i, int since,
                                                  int opset) {
  if (!node.has_input(i)) return std::nullopt;
  const graph::Tensor* tensor = graph.constant(node.inputs[i]);
  if (tensor == nullptr) {
    fail_bad_input("input {} is not constant, which needs opset {}; the export asks for {}", i, since, opset);
  }
  node.inputs[i] = kNoValue;
  return tensor->to_int64();
}

void lower_reduction(const Graph& graph, Node& node, int opset) {
  const bool keeps_all = node.attributes.get_or<int64_t>("noop_with_empty_axes", 0) != 0;
  node.attributes.erase("noop_with_empty_axes");
  const auto axes = take_constant(graph, node, 1, 18, opset);
  if (axes && !axes->empty()) {
    node.attributes.set("axes", *axes);
  } else if (keeps_all) {
    fail_bad_input("attribute 'noop_with_empty_axes' needs opset 18, the export asks for {}", opset);
  }
}

/// Without sizes, the older form only makes equal parts.
void lower_split(const Graph& graph, Node& node) {
  node.attributes.erase("num_outputs");
  if (node.has_input(1)) return;
  const auto& type = graph.value(node.input(0)).type;
  int64_t axis = node.attributes.get_or<int64_t>("axis", 0);
  if (type.ranked() && axis < 0) axis += static_cast<int64_t>(type.dims->size());
  const auto parts = static_cast<int64_t>(node.outputs.size());
  if (!type.ranked() || !(*type.dims)[static_cast<size_t>(axis)].known() ||
      (*type.dims)[static_cast<size_t>(axis)].value() % parts != 0) {
    fail_bad_input("parts that are not known to be equal need sizes before opset 18");
  }
}

void lower_grid_sample(Node& node) {
  const auto mode = node.attributes.get_or<std::string>("mode", "linear");
  if (mode == "linear") node.attributes.set("mode", std::string("bilinear"));
  if (mode == "cubic") node.attributes.set("mode", std::string("bicubic"));
}

void lower_dft(const Graph& graph, Node& node, int opset) {
  const auto axis = take_constant(graph, node, 2, 20, opset);
  node.attributes.set("axis", axis && !axis->empty() ? axis->front() : int64_t{-2});
}

void lower_pad(const Node& node, int opset) {
  if (node.has_input(3)) fail_bad_input("input 3 (axes) needs opset 18, the export asks for {}", opset);
  const int since = node.attributes.get_or<std::string>("mode", "constant") == "wrap" ? 19 : 0;
  if (opset < since) fail_bad_input("mode 'wrap' needs opset {}, the export asks for {}", since, opset);
}

}  // namespace

void lower_node(const Graph& graph, Node& node, int opset) {
  if (graph::find_operator(node.op)->since_version == 0)
    fail_bad_input("it was made by a pass and is no ONNX operator");
  const auto* newcomer = std::find_if(std::begin(kNewcomers), std::end(kNewcomers),
                                      [&](const Newcomer& entry) { return entry.op == node.op; });
  if (newcomer != std::end(kNewcomers) && opset < newcomer->since) {
    fail_bad_input("it needs opset {}, the export asks for {}", newcomer->since, opset);
  }
  drop_added_attributes(node, opset);
  if (opset < 18 && is_reduction(node.op)) lower_reduction(graph, node, opset);
  if (opset < 18 && node.op == "Split") lower_split(graph, node);
  if (opset < 19 && node.op == "Pad") lower_pad(node, opset);
  if (opset < 20 && node.op == "GridSample") lower_grid_sample(node);
  if (opset < 20 && node.op == "DFT") lower_dft(graph, node, opset);
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
}

bool can_lower(const Graph& graph, int opset) {
  for (const Node& node : graph.nodes) {
    Node lowered = node;
    try {
      lower_node(graph, lowered, opset);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput) throw;
      return false;
    }
    for (const auto& [name, value] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<Graph>>(&value);
      if (body != nullptr && !can_lower(**body, opset)) return false;
    }
  }
  return true;
}

}  // namespace hone::importer
