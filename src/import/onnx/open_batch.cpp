// See open_batch.hpp.
#include "import/onnx/open_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "graph/batch_entries.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::importer {
namespace {

using graph::Dim;
using graph::Dims;
using graph::Graph;
using graph::Node;
using graph::ValueId;

constexpr const char* kBatch = "batch";

/// The advice at the end of each of these messages.
constexpr const char* kInstead =
    "; export it again with an open batch (torch.onnx.export: dynamic_axes={\"NAME\": {0: \"batch\"}})";

/// The common first dimension of all inputs; bad input if they have none.
int64_t common_batch(const Graph& graph) {
  std::optional<int64_t> batch;
  for (const ValueId id : graph.inputs) {
    const graph::Value& value = graph.value(id);
    const bool fixed = value.type.ranked() && !value.type.dims->empty() && value.type.dims->front().known();
    if (!fixed || (batch && !value.type.dims->front().is(*batch)))
      fail_bad_input(
          "the batch cannot be opened: input '{}' is {}, which does not begin with a batch of {}{}",
          value.name, value.type.text(), batch.value_or(1), kInstead);
    batch = value.type.dims->front().value();
  }
  if (!batch) fail_bad_input("the batch cannot be opened: the model has no inputs");
  return *batch;
}

/// Lets nodes read constants directly instead of through Identity, so that shapes and axes are known;
/// exporters write an Identity for each use of equal tensors. Removes Identities that nothing reads any more.
void read_constants_directly(Graph& graph) {
  std::vector<ValueId> source(graph.values.size());
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<ValueId>(i);
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) {
      if (id != graph::kNoValue) id = source[static_cast<size_t>(id)];
    }
    if (node.op == "Identity" && graph.constant(node.inputs[0]) != nullptr)
      source[static_cast<size_t>(node.outputs[0])] = node.inputs[0];
  }
  // Bodies may read them.
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), graph::has_body)) return;
  std::erase_if(graph.nodes, [&](const Node& node) {
    return node.op == "Identity" && graph.constant(node.inputs[0]) != nullptr &&
           std::find(graph.outputs.begin(), graph.outputs.end(), node.outputs[0]) == graph.outputs.end();
  });
}

/// For each value, true if it depends on an input; the others are the same at every batch.
std::vector<bool> variables_of(const Graph& graph) {
  std::vector<bool> variable(graph.values.size(), false);
  for (const ValueId id : graph.inputs) variable[static_cast<size_t>(id)] = true;
  for (const Node& node : graph.nodes) {
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != graph::kNoValue && variable[static_cast<size_t>(id)];
    });
    for (const ValueId id : node.outputs) {
      if (id != graph::kNoValue && reads) variable[static_cast<size_t>(id)] = true;
    }
  }
  return variable;
}

bool is_variable(const Node& node, const std::vector<bool>& variable) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return id != graph::kNoValue && variable[static_cast<size_t>(id)]; });
}

/// If a Reshape's result has known dimensions and begins with the batch, replaces the first one with 0, which
/// copies that of the input, and keeps the others.
void free_reshape(Graph& graph, Node& node, int64_t batch) {
  if (node.op != "Reshape" || graph.constant(node.inputs[1]) == nullptr) return;
  const std::optional<Dims>& dims = graph.value(node.outputs[0]).type.dims;
  if (!dims || dims->empty() || !dims->front().is(batch) || node.attributes.get_int("allowzero") != 0) return;
  std::vector<int64_t> shape;
  for (const Dim& dim : *dims) {
    if (!dim.known() || dim.value() == 0) return;
    shape.push_back(dim.value());
  }
  shape.front() = 0;
  node.inputs[1] =
      graph.add_constant(graph.value(node.outputs[0]).name + ".shape",
                         tensor::Tensor::of<int64_t>(shape, {static_cast<int64_t>(shape.size())}));
}

bool begins_with_batch(const graph::Value& value) {
  if (!value.type.ranked() || value.type.dims->empty()) return false;
  const Dims& dims = *value.type.dims;
  return dims.front().symbol() == kBatch &&
         std::all_of(dims.begin() + 1, dims.end(), [](const Dim& dim) { return dim.known(); });
}

/// True if the node looks rows up in a table that is the same at every batch, as an embedding does: its
/// result begins with the dimensions of the indices.
bool is_lookup(const Node& node, const std::vector<bool>& variable) {
  return node.op == "Gather" && !variable[static_cast<size_t>(node.inputs[0])] &&
         node.attributes.get_int("axis") == 0;
}

void check_node(const Graph& graph, const Node& node, const std::vector<bool>& variable) {
  const auto refuse = [&](const std::string& why) {
    fail_bad_input("the batch cannot be opened: node '{}' ({}) {}{}", node.name, node.op, why, kInstead);
  };
  if (graph::has_body(node)) refuse("holds a graph of its own");
  for (const ValueId id : node.outputs) {
    if (id != graph::kNoValue && !begins_with_batch(graph.value(id)))
      refuse(fmt::format("gives {}, which does not begin with the batch", graph.value(id).type.text()));
  }
  if (node.outputs.front() == graph::kNoValue) refuse("has no first output");
  const auto rank = static_cast<int64_t>(graph.value(node.outputs[0]).type.dims->size());
  if (!is_lookup(node, variable) && !graph::keeps_batch_of(graph, node, rank, variable))
    refuse("mixes the entries of a batch");
}

}  // namespace

Graph open_batch(const Graph& fixed) {
  Graph graph = fixed;
  const int64_t batch = common_batch(graph);
  read_constants_directly(graph);
  const std::vector<bool> variable = variables_of(graph);
  for (Node& node : graph.nodes) {
    if (is_variable(node, variable)) free_reshape(graph, node, batch);
  }
  for (const ValueId id : graph.inputs) graph.value(id).type.dims->front() = Dim::symbol(kBatch);
  try {
    graph = graph::with_input_shapes(graph, {});
  } catch (const Error& error) {
    fail_bad_input("the batch cannot be opened: {}{}", error.what(), kInstead);
  }
  for (const Node& node : graph.nodes) {
    if (is_variable(node, variable)) check_node(graph, node, variable);
  }
  return graph;
}

}  // namespace hone::importer
