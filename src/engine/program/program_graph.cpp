// See program_graph.hpp.
#include "engine/program/program_graph.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/fnv.hpp"
#include "graph/operator.hpp"
#include "graph/region.hpp"
#include "reference/kernel.hpp"
#include "transform/constants.hpp"

namespace hone::engine {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

/// Enough for a causal mask of 2048 tokens in float32, which has 16 MiB.
constexpr double kMostBytes = 1 << 24;
/// Limits the time in reference kernels to a moment.
constexpr double kMostOperations = 1e7;

std::optional<Tensor> known_result(const Graph& graph, ValueId id) {
  const graph::Value& value = graph.value(id);
  const auto elements = transform::known_integers(graph, id);
  const bool whole = tensor::is_integer(value.type.dtype) || value.type.dtype == tensor::DType::kBool;
  if (!elements || !whole || !value.type.fully_known()) return std::nullopt;
  tensor::Shape shape;
  for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.value());
  if (tensor::element_count(shape) != static_cast<int64_t>(elements->size())) return std::nullopt;
  return Tensor::of<int64_t>(*elements, std::move(shape)).cast(value.type.dtype);
}

/// The result of a node with one output if the shapes determine it; nullopt for any other node.
std::optional<Tensor> decided(const Graph& graph, const Node& node) {
  if (graph::traits_of(node).random || graph::has_body(node)) return std::nullopt;
  if (auto known = known_result(graph, node.outputs[0])) return known;
  const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || graph.constant(id) != nullptr;
  });
  if (!constant) return std::nullopt;
  const auto cost = graph::node_cost(graph, node);
  if (!cost || cost->flops > kMostOperations) return std::nullopt;
  const graph::TensorType& type = graph.value(node.outputs[0]).type;
  if (!type.fully_known()) return std::nullopt;
  double bytes = static_cast<double>(tensor::dtype_size(type.dtype));
  for (const graph::Dim& dim : *type.dims) bytes *= static_cast<double>(dim.value());
  if (bytes > kMostBytes) return std::nullopt;
  std::vector<const Tensor*> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? nullptr : graph.constant(id));
  return reference::run_node(node, std::move(inputs))[0];
}

/// Packed forms of constants are identified by name, so the name must depend on the content, which differs
/// between shapes.
std::string name_of_content(const std::string& name, const Tensor& tensor) {
  base::Fnv1a hash;
  hash.add_number(static_cast<uint64_t>(tensor.dtype()));
  for (const int64_t extent : tensor.shape()) hash.add_number(static_cast<uint64_t>(extent));
  hash.add_bytes(tensor.bytes(), tensor.byte_size());
  return fmt::format("{}@{}", name, hash.text());
}

}  // namespace

Graph& ProgramGraph::own() {
  if (own_ == nullptr) graph_ = own_ = std::make_shared<Graph>(*given_);
  return *own_;
}

bool ProgramGraph::is_given_constant(ValueId id) const {
  return id == kNoValue ||
         (static_cast<size_t>(id) < given_->values.size() && given_->value(id).constant.has_value());
}

bool ProgramGraph::make_constant(const Node& node) {
  if (node.outputs.size() != 1 || node.outputs[0] == kNoValue) return false;
  // Passes left some constant expressions of the engine on purpose.
  if (std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_given_constant(id); }))
    return false;
  std::optional<Tensor> result = decided(*graph_, node);
  if (!result) return false;
  graph::Value& value = own().value(node.outputs[0]);
  value.name = name_of_content(value.name, *result);
  value.constant = std::move(*result);
  return true;
}

}  // namespace hone::engine
