// See graph_json.hpp.
#include "engine/graph_json.hpp"

#include <cmath>
#include <limits>

#include "engine/tensor_desc.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::engine {
namespace {

using graph::Attribute;
using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

/// Limit on the nesting of subgraphs.
constexpr int kMaxDepth = 16;
constexpr size_t kMaxValues = 1u << 20;
constexpr size_t kMaxRank = 16;

Json tensor_to_json(const Tensor& tensor, const WriteBlob& write) {
  return {{"dtype", static_cast<int>(tensor.dtype())},
          {"shape", tensor.shape()},
          {"blob", write(tensor.bytes(), static_cast<int64_t>(tensor.byte_size()))}};
}

tensor::DType dtype_from(const Json& json) {
  const auto number = json.get<int>();
  const auto dtype = static_cast<tensor::DType>(number);
  if (number < 0 || number > static_cast<int>(tensor::DType::kBFloat16))
    fail_bad_input("element type {} is not known", number);
  return dtype;
}

tensor::Shape shape_from(const Json& json) {
  auto shape = json.get<tensor::Shape>();
  if (shape.size() > kMaxRank) fail_bad_input("a tensor of rank {}", shape.size());
  tensor::element_count(shape);
  return shape;
}

/// A tensor without a blob is a constant that is stored only in packed form, if `packed` allows that.
Tensor tensor_from_json(const Json& json, const ReadBlob& read, bool packed) {
  const tensor::DType dtype = dtype_from(json.at("dtype"));
  if (!tensor::is_supported(dtype)) fail_bad_input("a tensor of {}", tensor::dtype_name(dtype));
  tensor::Shape shape = shape_from(json.at("shape"));
  const int64_t bytes = TensorDesc{dtype, shape, Layout::kPlain}.bytes();
  if (!json.contains("blob")) {
    if (bytes > 0 && !packed) fail_bad_input("a tensor of {} bytes has no blob", bytes);
    return {dtype, std::move(shape), nullptr, nullptr};
  }
  auto [data, owner] = read(json.at("blob").get<int64_t>(), bytes);
  return {dtype, std::move(shape), data, std::move(owner)};
}

/// JSON cannot represent infinities and NaN.
Json float_to_json(float value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

float float_from_json(const Json& json) {
  if (!json.is_string()) return json.get<float>();
  if (json == "nan") return std::numeric_limits<float>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<float>::infinity();
  if (json == "-inf") return -std::numeric_limits<float>::infinity();
  fail_bad_input("'{}' is no number", json.get<std::string>());
}

Json floats_to_json(const std::vector<float>& values) {
  Json result = Json::array();
  for (const float value : values) result.push_back(float_to_json(value));
  return result;
}

std::vector<float> floats_from_json(const Json& json) {
  if (!json.is_array()) return json.get<std::vector<float>>();  // get() then reports the actual type
  std::vector<float> values;
  for (const Json& item : json) values.push_back(float_from_json(item));
  return values;
}

Json attribute_to_json(const Attribute& attribute, const WriteBlob& write) {
  return std::visit(
      [&]<class T>(const T& value) -> Json {
        if constexpr (std::is_same_v<T, Tensor>) {
          return tensor_to_json(value, write);
        } else if constexpr (std::is_same_v<T, float>) {
          return float_to_json(value);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return floats_to_json(value);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<Graph>>) {
          return graph_to_json(*value, write, [](ValueId) { return true; });
        } else {
          return value;
        }
      },
      attribute);
}

Graph read_graph(const Json& json, const ReadBlob& read, int depth);

Attribute attribute_from_json(size_t kind, const Json& json, const ReadBlob& read, int depth) {
  switch (kind) {
    case 0: return json.get<int64_t>();
    case 1: return float_from_json(json);
    case 2: return json.get<std::string>();
    case 3: return json.get<std::vector<int64_t>>();
    case 4: return floats_from_json(json);
    case 5: return json.get<std::vector<std::string>>();
    case 6: return tensor_from_json(json, read, false);
    case 7: return std::make_shared<Graph>(read_graph(json, read, depth + 1));
    default: fail_bad_input("attribute kind {} is not known", kind);
  }
}

Json dims_to_json(const graph::Dims& dims) {
  Json result = Json::array();
  for (const graph::Dim& dim : dims) {
    if (dim.known()) {
      result.push_back(dim.value());
    } else {
      result.push_back(dim.symbol());
    }
  }
  return result;
}

graph::Dims dims_from_json(const Json& json) {
  graph::Dims dims;
  if (json.size() > kMaxRank) fail_bad_input("a value of rank {}", json.size());
  for (const Json& item : json) {
    if (item.is_number_integer()) {
      const auto value = item.get<int64_t>();
      if (value < 0) fail_bad_input("a dimension of {}", value);
      dims.emplace_back(value);
      continue;
    }
    const auto symbol = item.get<std::string>();
    dims.push_back(symbol.empty() ? graph::Dim() : graph::Dim::symbol(symbol));
  }
  return dims;
}

std::vector<ValueId> ids_from_json(const Json& json, size_t values, bool optional) {
  auto ids = json.get<std::vector<ValueId>>();
  for (const ValueId id : ids) {
    if (id == graph::kNoValue && optional) continue;
    if (id < 0 || static_cast<size_t>(id) >= values) fail_bad_input("value number {} is out of range", id);
  }
  return ids;
}

Node node_from_json(const Json& json, size_t values, const ReadBlob& read, int depth) {
  Node node;
  node.name = json.at("name").get<std::string>();
  node.op = json.at("op").get<std::string>();
  node.inputs = ids_from_json(json.at("inputs"), values, true);
  node.outputs = ids_from_json(json.at("outputs"), values, true);
  node.sources = json.at("sources").get<std::vector<std::string>>();
  for (const auto& [name, item] : json.at("attributes").items()) {
    node.attributes.set(name, attribute_from_json(item.at(0).get<size_t>(), item.at(1), read, depth));
  }
  graph::complete_node(node);
  return node;
}

/// Checks that producers come before readers, and that each value has one producer, because all later steps
/// rely on that.
void check_order(const Graph& graph) {
  std::vector<bool> ready(graph.values.size(), false);
  for (size_t i = 0; i < graph.values.size(); ++i) ready[i] = graph.values[i].constant.has_value();
  const auto make = [&](ValueId id) {
    if (ready[static_cast<size_t>(id)]) fail_bad_input("value '{}' is made twice", graph.value(id).name);
    ready[static_cast<size_t>(id)] = true;
  };
  const auto need = [&](ValueId id) {
    if (!ready[static_cast<size_t>(id)])
      fail_bad_input("value '{}' is read before it is made", graph.value(id).name);
  };
  for (const ValueId id : graph.inputs) make(id);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != graph::kNoValue) need(id);
    }
    for (const ValueId id : node.outputs) {
      if (id != graph::kNoValue) make(id);
    }
  }
  for (const ValueId id : graph.outputs) need(id);
}

Graph read_graph(const Json& json, const ReadBlob& read, int depth) {
  if (depth > kMaxDepth) fail_bad_input("subgraphs are nested deeper than {}", kMaxDepth);
  Graph graph;
  graph.name = json.at("name").get<std::string>();
  const Json& values = json.at("values");
  if (values.size() > kMaxValues) fail_bad_input("{} values", values.size());
  for (const Json& item : values) {
    graph::Value value;
    value.name = item.at("name").get<std::string>();
    value.type.dtype = dtype_from(item.at("dtype"));
    if (item.contains("dims")) value.type.dims = dims_from_json(item.at("dims"));
    if (item.contains("constant")) {
      // Constants of subgraphs are always stored in plain form, because shape inference may read them in any
      // run.
      value.constant = tensor_from_json(item.at("constant"), read, depth == 0);
      value.type = {value.constant->dtype(),
                    graph::Dims(value.constant->shape().begin(), value.constant->shape().end())};
    }
    graph.values.push_back(std::move(value));
  }
  graph.inputs = ids_from_json(json.at("inputs"), graph.values.size(), false);
  graph.outputs = ids_from_json(json.at("outputs"), graph.values.size(), false);
  for (const Json& item : json.at("nodes"))
    graph.nodes.push_back(node_from_json(item, graph.values.size(), read, depth));
  check_order(graph);
  return graph;
}

}  // namespace

Json graph_to_json(const Graph& graph, const WriteBlob& write, const KeepConstant& keep) {
  Json values = Json::array();
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const graph::Value& value = graph.values[i];
    Json item = {{"name", value.name}, {"dtype", static_cast<int>(value.type.dtype)}};
    if (value.type.ranked()) item["dims"] = dims_to_json(*value.type.dims);
    if (value.constant) {
      item["constant"] = keep(static_cast<ValueId>(i)) && value.constant->bytes() != nullptr
                             ? tensor_to_json(*value.constant, write)
                             : Json{{"dtype", static_cast<int>(value.constant->dtype())},
                                    {"shape", value.constant->shape()}};
    }
    values.push_back(std::move(item));
  }
  Json nodes = Json::array();
  for (const Node& node : graph.nodes) {
    Json attributes = Json::object();
    for (const auto& [name, attribute] : node.attributes) {
      attributes[name] = Json::array({attribute.index(), attribute_to_json(attribute, write)});
    }
    nodes.push_back({{"name", node.name},
                     {"op", node.op},
                     {"inputs", node.inputs},
                     {"outputs", node.outputs},
                     {"sources", node.sources},
                     {"attributes", std::move(attributes)}});
  }
  return {{"name", graph.name},
          {"inputs", graph.inputs},
          {"outputs", graph.outputs},
          {"values", std::move(values)},
          {"nodes", std::move(nodes)}};
}

Graph graph_from_json(const Json& json, const ReadBlob& read) {
  Graph graph = read_graph(json, read, 0);
  for (const ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    if (!tensor::is_supported(input.type.dtype))
      fail_bad_input("input '{}' has elements of {}", input.name, tensor::dtype_name(input.type.dtype));
  }
  graph::infer_types(graph);
  return graph;
}

}  // namespace hone::engine
