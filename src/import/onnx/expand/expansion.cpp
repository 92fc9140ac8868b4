// See expansion.hpp.
#include "import/onnx/expand/expansion.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "graph/infer.hpp"
#include "import/onnx/adapt.hpp"

namespace hone::importer {

using graph::Attributes;
using graph::DType;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

Attributes attributes(std::initializer_list<std::pair<const char*, graph::Attribute>> items) {
  Attributes result;
  for (const auto& [name, value] : items) result.set(name, value);
  return result;
}

Expansion::Expansion(graph::Graph& graph, Node node, int opset)
    : graph(graph), opset(opset), node_(std::move(node)), first_(graph.nodes.size()) {}

ValueId Expansion::in(size_t i) {
  if (!node_.has_input(i)) fail_bad_input("input {} is missing", i);
  return maybe_in(i);
}

ValueId Expansion::maybe_in(size_t i) {
  read_inputs_.insert(i);
  return node_.input(i);
}

template <class T>
T Expansion::attribute(std::string_view name, T fallback) {
  ignore(name);
  const graph::Attribute* value = node_.attributes.find(name);
  if (value == nullptr) return fallback;
  if (const T* typed = std::get_if<T>(value)) return *typed;
  fail_bad_input("attribute '{}' has the wrong type {}", name, graph::attribute_type_name(value->index()));
}

int64_t Expansion::integer(std::string_view name, int64_t fallback) { return attribute(name, fallback); }
float Expansion::real(std::string_view name, float fallback) { return attribute(name, fallback); }
std::string Expansion::text(std::string_view name, std::string fallback) {
  return attribute(name, std::move(fallback));
}
std::vector<int64_t> Expansion::integers(std::string_view name) {
  return attribute(name, std::vector<int64_t>{});
}
std::vector<float> Expansion::reals(std::string_view name) { return attribute(name, std::vector<float>{}); }
std::vector<std::string> Expansion::texts(std::string_view name) {
  return attribute(name, std::vector<std::string>{});
}

int64_t Expansion::count(std::string_view name) {
  const int64_t value = integer(name, 0);
  if (value < 1 || value > INT32_MAX)
    fail_bad_input("attribute '{}' is {}, expected 1 to {}", name, value, INT32_MAX);
  return value;
}

Attributes Expansion::other_attributes() {
  Attributes result;
  for (const auto& [name, value] : node_.attributes) {
    if (read_attributes_.insert(name).second) result.set(name, value);
  }
  return result;
}

DType Expansion::dtype(ValueId id) const {
  const DType dtype = graph.value(id).type.dtype;
  if (dtype == DType::kUndefined)
    fail_bad_input("the element type of '{}' is not known", graph.value(id).name);
  return dtype;
}

const graph::Dims& Expansion::dims(ValueId id) const {
  const graph::Value& value = graph.value(id);
  if (!value.type.ranked()) fail_bad_input("the rank of '{}' is not known", value.name);
  return *value.type.dims;
}

void Expansion::require_rank(ValueId id, int64_t rank, std::string_view what) const {
  const auto found = static_cast<int64_t>(dims(id).size());
  if (found != rank) fail_bad_input("{} has rank {}, expected {}", what, found, rank);
}

std::vector<ValueId> Expansion::ops(std::string op, std::vector<ValueId> inputs, size_t outputs,
                                    Attributes attributes) {
  Node added;
  added.name = fmt::format("{}.{}.{}", node_.name, op, graph.values.size());
  added.op = std::move(op);
  added.attributes = std::move(attributes);
  added.inputs = std::move(inputs);
  added.sources = node_.sources;
  for (size_t i = 0; i < outputs; ++i) {
    added.outputs.push_back(graph.add_value(outputs == 1 ? added.name : fmt::format("{}.{}", added.name, i)));
  }
  std::vector<ValueId> results = added.outputs;
  add_checked_node(graph, std::move(added));
  return results;
}

ValueId Expansion::op(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  return ops(std::move(op), std::move(inputs), 1, std::move(attributes))[0];
}

ValueId Expansion::constant(Tensor tensor) {
  return graph.add_constant(fmt::format("{}.constant.{}", node_.name, graph.values.size()),
                            std::move(tensor));
}

ValueId Expansion::ints(const std::vector<int64_t>& values) {
  return constant(Tensor::of<int64_t>(values, {static_cast<int64_t>(values.size())}));
}

ValueId Expansion::number(double value, DType dtype) {
  return constant(Tensor::scalar<double>(value).cast(dtype));
}

ValueId Expansion::cast(ValueId x, DType to) {
  if (dtype(x) == to) return x;
  return op("Cast", {x}, attributes({{"to", static_cast<int64_t>(to)}}));
}

ValueId Expansion::transpose(ValueId x, std::vector<int64_t> perm) {
  return op("Transpose", {x}, attributes({{"perm", std::move(perm)}}));
}

bool Expansion::is_dimension(const Extent& extent, ValueId x, size_t axis) const {
  const auto& type = graph.value(x).type;
  if (!type.ranked() || axis >= type.dims->size()) return false;
  const graph::Dim& dim = (*type.dims)[axis];
  if (extent.known()) return dim.is(*extent.number);
  if (extent.source == x && extent.axis == static_cast<int64_t>(axis)) return true;
  if (extent.source != kNoValue) return dims(extent.source)[static_cast<size_t>(extent.axis)].same_as(dim);
  const auto& data = graph.value(extent.value).data;
  return data && data->size() == 1 && data->front().same_as(dim);
}

ValueId Expansion::reshape(ValueId x, const std::vector<Extent>& shape) {
  std::vector<Extent> wanted = shape;
  size_t open = 0;
  bool zeros = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    zeros = zeros || wanted[i].is(0);
    if (wanted[i].known()) continue;
    if (is_dimension(wanted[i], x, i)) {
      wanted[i] = 0;
    } else {
      ++open;
    }
  }
  if (open == 1) {
    for (Extent& extent : wanted) extent = extent.known() ? extent : Extent(-1);
  }
  if (zeros || open > 1) return op("Reshape", {x, list(shape)}, attributes({{"allowzero", int64_t{zeros}}}));
  return op("Reshape", {x, list(wanted)});
}

ValueId Expansion::unsqueeze(ValueId x, const std::vector<int64_t>& axes) {
  return op("Unsqueeze", {x, ints(axes)});
}

ValueId Expansion::concat(std::vector<ValueId> parts, int64_t axis) {
  return op("Concat", std::move(parts), attributes({{"axis", axis}}));
}

ValueId Expansion::slice(ValueId x, int64_t axis, const Extent& begin, const Extent& end) {
  return op("Slice", {x, vector(begin), vector(end), ints({axis})});
}

std::vector<ValueId> Expansion::split(ValueId x, int64_t axis, size_t parts) {
  return ops("Split", {x}, parts, attributes({{"axis", axis}, {"num_outputs", static_cast<int64_t>(parts)}}));
}

std::vector<ValueId> Expansion::split(ValueId x, int64_t axis, const std::vector<int64_t>& lengths) {
  return ops("Split", {x, ints(lengths)}, lengths.size(), attributes({{"axis", axis}}));
}

Extent Expansion::extent(ValueId x, int64_t axis) {
  const auto& shape = dims(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) fail_bad_input("'{}' has rank {}", graph.value(x).name, rank);
  const graph::Dim& dim = shape[static_cast<size_t>(at)];
  if (dim.known()) return dim.value();
  return Extent::of_dimension(x, at);
}

Extent Expansion::combine(const char* op_name, const Extent& a, const Extent& b) {
  if (!a.known() || !b.known()) return Extent::of(op(op_name, {vector(a), vector(b)}));
  const std::string_view name = op_name;
  if (name == "Add") return base::checked_add(*a.number, *b.number);
  if (name == "Mul") return base::checked_mul(*a.number, *b.number);
  if (name == "Sub") return *a.number - *b.number;
  if (*b.number == 0) fail_bad_input("a dimension is divided by zero");
  return *a.number / *b.number;
}

ValueId Expansion::vector(const Extent& extent) {
  if (extent.known()) return ints({*extent.number});
  if (extent.source == kNoValue) return extent.value;
  return op("Shape", {extent.source}, attributes({{"start", extent.axis}, {"end", extent.axis + 1}}));
}

ValueId Expansion::list(const std::vector<Extent>& extents) {
  std::vector<int64_t> numbers;
  for (const Extent& extent : extents) {
    if (extent.known()) numbers.push_back(*extent.number);
  }
  if (numbers.size() == extents.size()) return ints(numbers);
  std::vector<ValueId> parts;
  for (const Extent& extent : extents) parts.push_back(vector(extent));
  return parts.size() == 1 ? parts[0] : concat(std::move(parts), 0);
}

ValueId Expansion::positions(const Extent& count) {
  constexpr int64_t kMostFolded = 1 << 16;
  if (count.known() && *count.number < 0) fail_bad_input("a sequence has length {}", *count.number);
  if (count.known() && *count.number <= kMostFolded) {
    std::vector<int64_t> numbers(static_cast<size_t>(*count.number));
    std::iota(numbers.begin(), numbers.end(), 0);
    return ints(numbers);
  }
  const ValueId end = op("Reshape", {vector(count), ints({})});
  return op("Range", {number(0, DType::kInt64), end, number(1, DType::kInt64)});
}

void Expansion::connect(ValueId from, ValueId to) {
  Node* maker = nullptr;
  for (size_t i = first_; i < graph.nodes.size(); ++i) {
    Node& made = graph.nodes[i];
    if (std::find(made.outputs.begin(), made.outputs.end(), from) != made.outputs.end()) maker = &made;
  }
  if (maker == nullptr) {
    Node copy;
    copy.name = fmt::format("{}.Identity.{}", node_.name, graph.values.size());
    copy.op = "Identity";
    copy.inputs = {from};
    copy.outputs = {to};
    copy.sources = node_.sources;
    return add_checked_node(graph, std::move(copy));
  }
  for (size_t i = first_; i < graph.nodes.size(); ++i) {
    std::replace(graph.nodes[i].inputs.begin(), graph.nodes[i].inputs.end(), from, to);
    std::replace(graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end(), from, to);
  }
  graph::infer_node(graph, *maker);
}

void Expansion::finish() {
  for (const auto& [name, value] : node_.attributes) {
    if (!read_attributes_.contains(name)) fail_bad_input("attribute '{}' is not supported", name);
  }
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    if (node_.has_input(i) && !read_inputs_.contains(i)) fail_bad_input("input {} is not supported", i);
  }
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (node_.has_output(i) && !given_.contains(i)) fail_bad_input("output {} is not supported", i);
  }
  std::map<ValueId, ValueId> connected;
  for (const auto& [output, value] : given_) {
    if (!wants(output)) continue;
    const auto before = connected.find(value);
    connect(before == connected.end() ? value : before->second, node_.outputs[output]);
    connected.emplace(value, node_.outputs[output]);
  }
}

}  // namespace hone::importer
