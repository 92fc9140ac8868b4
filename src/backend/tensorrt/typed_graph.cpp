// See typed_graph.hpp.
#include "backend/tensorrt/typed_graph.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "graph/cast_node.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "tensor/float_types.hpp"
#include "tensor/saturate.hpp"

namespace hone::backend::tensorrt {
namespace {

using graph::DType;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

/// Sums of squares, exponentials and running sums exceed the
/// range of float16; positions and sizes lose digits in it.
constexpr std::string_view kWide[] = {
    "CumSum",   "Exp",          "LpNormalization", "NonMaxSuppression", "Pow",     "Range",
    "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare",   "RoiAlign"};

/// True if ONNX requires float32 for this input, whatever the type of the other inputs.
bool is_float32_parameter(const Node& node, size_t input) { return node.op == "Resize" && input > 0; }

class Typing {
 public:
  Typing(const Graph& graph, DType narrow) : result_(graph), narrow_(narrow) {}

  Graph run() {
    std::vector<Node> nodes = std::move(result_.nodes);
    result_.nodes.clear();
    for (Node& node : nodes) add(std::move(node));
    graph::infer_types(result_);
    return std::move(result_);
  }

 private:
  bool computes_wide(const Node& node) const {
    return graph::has_body(node) || std::find(std::begin(kWide), std::end(kWide), node.op) != std::end(kWide);
  }

  void add(Node node) {
    const DType wanted = computes_wide(node) ? DType::kFloat32 : narrow_;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      node.inputs[i] = as(node.inputs[i], is_float32_parameter(node, i) ? DType::kFloat32 : wanted);
    std::vector<Node> widened;
    if (wanted == narrow_) narrow_results(node, widened);
    result_.add_node(std::move(node));
    for (Node& cast : widened) result_.add_node(std::move(cast));
  }

  /// A node with an attribute for its result's type gets the narrow type. Its float32 results become narrow,
  /// and an output of the graph is converted back afterwards.
  void narrow_results(Node& node, std::vector<Node>& widened) {
    for (const char* name : {"to", "dtype"}) {
      if (node.attributes.get_or<int64_t>(name, 0) == static_cast<int64_t>(DType::kFloat32))
        node.attributes.set(name, static_cast<int64_t>(narrow_));
    }
    if (const auto* value = node.attributes.find("value"); node.op == "ConstantOfShape" && value != nullptr) {
      if (const auto* tensor = std::get_if<graph::Tensor>(value); tensor->dtype() == DType::kFloat32)
        node.attributes.set("value", tensor::saturated(*tensor, narrow_));
    }
    for (ValueId& output : node.outputs) {
      if (output == kNoValue || result_.value(output).type.dtype != DType::kFloat32) continue;
      const bool is_result =
          std::find(result_.outputs.begin(), result_.outputs.end(), output) != result_.outputs.end();
      if (!is_result) {
        result_.value(output).type.dtype = narrow_;
        continue;
      }
      const ValueId declared = output;
      output = result_.add_value(result_.value(declared).name + ".narrow",
                                 {narrow_, result_.value(declared).type.dims});
      casts_[{declared, narrow_}] = output;
      widened.push_back(cast(output, declared, DType::kFloat32));
    }
  }

  static Node cast(ValueId from, ValueId to, DType dtype) {
    return graph::cast_node(fmt::format("cast.{}", to), from, to, dtype);
  }

  /// The value converted to this type, if it has one of the two types.
  ValueId as(ValueId id, DType wanted) {
    if (id == kNoValue) return id;
    const graph::Value& value = result_.value(id);
    const DType type = value.type.dtype;
    if (type == wanted || (type != DType::kFloat32 && type != narrow_)) return id;
    const auto [place, is_new] = casts_.try_emplace({id, wanted}, kNoValue);
    if (!is_new) return place->second;
    const std::string name = fmt::format("{}.{}", value.name, tensor::dtype_name(wanted));
    if (value.constant) {
      place->second =
          result_.add_constant(name, wanted == narrow_ ? tensor::saturated(*value.constant, wanted)
                                                       : value.constant->cast(wanted));
    } else {
      place->second = result_.add_value(name, {wanted, value.type.dims});
      result_.add_node(cast(id, place->second, wanted));
    }
    return place->second;
  }

  Graph result_;
  const DType narrow_;
  std::map<std::pair<ValueId, DType>, ValueId> casts_;
};

}  // namespace

Graph typed(const Graph& graph, tensor::Precision precision) {
  if (precision == tensor::Precision::kFp16) return Typing(graph, DType::kFloat16).run();
  if (precision == tensor::Precision::kBf16) return Typing(graph, DType::kBFloat16).run();
  return graph;
}

Graph within_range(const Graph& graph, tensor::Precision precision) {
  Graph result = graph;
  if (precision != tensor::Precision::kFp16) return result;
  for (size_t id = 0; id < result.values.size(); ++id) {
    auto& constant = result.values[id].constant;
    if (!constant || constant->dtype() != DType::kFloat32) continue;
    const auto values = constant->values<float>();
    if (std::none_of(values.begin(), values.end(), tensor::is_beyond<tensor::Half>)) continue;
    tensor::Tensor narrow(DType::kFloat32, constant->shape());
    std::transform(values.begin(), values.end(), narrow.mutable_values<float>().begin(), [](float value) {
      return tensor::is_beyond<tensor::Half>(value)
                 ? static_cast<float>(tensor::saturated<tensor::Half>(value))
                 : value;
    });
    constant = std::move(narrow);
  }
  return result;
}

}  // namespace hone::backend::tensorrt
