// See operator.hpp.
#include "graph/operator.hpp"

#include <algorithm>

#include "tensor/shape.hpp"

namespace hone::graph {
namespace {

/// Longest list of integers that is followed as shape data: far above any rank, far below any weight.
constexpr int64_t kMaxFollowed = 1024;

/// Elements of a constant; nullopt for types other than integers and bool, and for numbers beyond int64.
std::optional<std::vector<int64_t>> exact_integers(const Tensor& tensor) {
  if (!tensor::is_integer(tensor.dtype()) && tensor.dtype() != DType::kBool) return std::nullopt;
  auto values = tensor.to_int64();
  const bool wraps = tensor.dtype() == DType::kUInt64 &&
                     std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; });
  if (wraps) return std::nullopt;
  return values;
}

}  // namespace

InferenceContext::InferenceContext(const Graph& graph, const Node& node)
    : graph_(graph), node_(node), outputs_(node.outputs.size()) {}

const TensorType& InferenceContext::input(size_t i) const {
  static const TensorType kAbsent;
  return has_input(i) ? graph_.value(node_.input(i)).type : kAbsent;
}

const Dims& InferenceContext::dims(size_t i) const {
  const TensorType& type = input(i);
  if (!type.ranked()) fail_internal("dims({}) of an unranked input of {}", i, node_.text());
  return *type.dims;
}

std::optional<Dims> InferenceContext::data(size_t i) const {
  if (!has_input(i)) return std::nullopt;
  if (const Tensor* tensor = constant(i)) {
    if (tensor->rank() > 1 || tensor->size() > kMaxFollowed) return std::nullopt;
    const auto values = exact_integers(*tensor);
    if (!values) return std::nullopt;
    return Dims(values->begin(), values->end());
  }
  return graph_.value(node_.input(i)).data;
}

std::optional<std::vector<int64_t>> InferenceContext::known_data(size_t i) const {
  if (!has_input(i)) return std::nullopt;
  if (const Tensor* tensor = constant(i)) return exact_integers(*tensor);
  const auto& dims = graph_.value(node_.input(i)).data;
  if (!dims || !all_known(*dims)) return std::nullopt;
  std::vector<int64_t> result;
  for (const Dim& dim : *dims) result.push_back(dim.value());
  return result;
}

void InferenceContext::set_output(size_t i, DType dtype, std::optional<Dims> dims) {
  if (i < outputs_.size()) outputs_[i].type = {dtype, std::move(dims)};
}

void InferenceContext::set_output_data(size_t i, Dims data) {
  const bool small = static_cast<int64_t>(data.size()) <= kMaxFollowed;
  if (i < outputs_.size() && small) outputs_[i].data = std::move(data);
}

void InferenceContext::require_rank(size_t i, int64_t minimum, int64_t maximum) const {
  if (!ranked(i)) return;
  if (rank(i) < minimum || rank(i) > maximum) {
    fail("input {} has rank {}, expected {}", i, rank(i),
         minimum == maximum ? std::to_string(minimum) : fmt::format("{} to {}", minimum, maximum));
  }
}

int64_t InferenceContext::axis(std::string_view attribute, int64_t rank) const {
  const int64_t axis = attributes().get_int(attribute);
  require(axis >= -rank && axis < rank, "attribute '{}' is {}, outside rank {}", attribute, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

const AttributeDef* OperatorDef::find_attribute(std::string_view attribute) const {
  for (const AttributeDef& def : attributes) {
    if (def.name == attribute) return &def;
  }
  return nullptr;
}

const Traits& traits_of(const Node& node) {
  static const Traits kNone;
  const OperatorDef* def = find_operator(node.op);
  return def == nullptr ? kNone : def->traits;
}

bool has_body(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& item) {
    return std::holds_alternative<std::shared_ptr<Graph>>(item.second);
  });
}

void complete_node(Node& node) {
  const auto fail = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    throw Error(ErrorKind::kBadInput, fmt::format(format, std::forward<Args>(args)...), node.text());
  };
  const OperatorDef* def = find_operator(node.op);
  if (def == nullptr) fail("operator '{}' is not known", node.op);
  const auto inputs = static_cast<int>(node.inputs.size());
  const auto outputs = static_cast<int>(node.outputs.size());
  if (inputs < def->min_inputs || inputs > def->max_inputs) {
    fail("{} inputs, expected {} to {}", inputs, def->min_inputs, def->max_inputs);
  }
  if (outputs < def->min_outputs || outputs > def->max_outputs) {
    fail("{} outputs, expected {} to {}", outputs, def->min_outputs, def->max_outputs);
  }
  for (int i = 0; i < def->min_inputs; ++i) {
    if (node.inputs[static_cast<size_t>(i)] == kNoValue) fail("required input {} is missing", i);
  }
  for (int i = 0; i < def->min_outputs; ++i) {
    if (node.outputs[static_cast<size_t>(i)] == kNoValue) fail("required output {} is missing", i);
  }
  for (const auto& [name, value] : node.attributes) {
    const AttributeDef* attribute = def->find_attribute(name);
    if (attribute == nullptr) fail("attribute '{}' is not known", name);
    if (value.index() != static_cast<size_t>(attribute->kind)) {
      fail("attribute '{}' is of type {}, expected {}", name, attribute_type_name(value.index()),
           attribute_type_name(static_cast<size_t>(attribute->kind)));
    }
  }
  for (const AttributeDef& attribute : def->attributes) {
    if (node.attributes.has(attribute.name)) continue;
    if (attribute.required) fail("required attribute '{}' is missing", attribute.name);
    if (attribute.fallback) node.attributes.set(attribute.name, *attribute.fallback);
  }
}

std::optional<Cost> node_cost(const Graph& graph, const Node& node) {
  Cost cost;
  const auto add_bytes = [&](ValueId id) {
    if (id == kNoValue) return true;
    const TensorType& type = graph.value(id).type;
    if (!type.fully_known() || !tensor::is_supported(type.dtype)) return false;
    double bytes = static_cast<double>(tensor::dtype_size(type.dtype));
    for (const Dim& dim : *type.dims) bytes *= static_cast<double>(dim.value());
    cost.bytes += bytes;
    return true;
  };
  for (const ValueId id : node.inputs) {
    if (!add_bytes(id)) return std::nullopt;
  }
  for (const ValueId id : node.outputs) {
    if (!add_bytes(id)) return std::nullopt;
  }
  const OperatorDef* def = find_operator(node.op);
  if (def != nullptr && def->flops) {
    cost.flops = def->flops(graph, node);
    return cost;
  }
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    double elements = 1;
    for (const Dim& dim : *graph.value(id).type.dims) elements *= static_cast<double>(dim.value());
    cost.flops += elements;
  }
  return cost;
}

}  // namespace hone::graph
