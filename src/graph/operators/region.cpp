// Operator table entry of Region, whose rules are those of the nodes in its body.
#include "graph/region.hpp"

#include <algorithm>

#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/subgraph.hpp"

namespace hone::graph {
namespace {

/// Dissolving a region replaces it with the nodes of its body. So the nodes must produce its results, and all
/// their other operands must be its inputs.
void check_body(const InferenceContext& context, const Graph& body) {
  std::vector<bool> made(body.values.size(), false);
  for (const Node& node : body.nodes) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) made[static_cast<size_t>(id)] = true;
    }
  }
  for (const Value& value : body.values) {
    context.require(!value.constant, "the body holds constant '{}', which has to be an input of the region",
                    value.name);
  }
  context.require(body.outputs.size() == context.output_count(), "{} outputs, and the body makes {}",
                  context.output_count(), body.outputs.size());
  for (const ValueId id : body.outputs) {
    context.require(made[static_cast<size_t>(id)],
                    "output '{}' of the body is made by none of its nodes, or stands there twice",
                    body.value(id).name);
    made[static_cast<size_t>(id)] = false;
  }
}

void infer_region(InferenceContext& context) {
  const auto& body = context.attributes().get<std::shared_ptr<Graph>>("body");
  context.require(body != nullptr, "attribute 'body' holds no graph");
  check_body(context, *body);
  std::vector<SubgraphInput> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    context.require(context.has_input(i), "input {} is missing", i);
    inputs.push_back({context.input(i), context.data(i), context.constant(i)});
  }
  try {
    const std::vector<TensorType> types = infer_subgraph(*body, inputs);
    for (size_t i = 0; i < types.size(); ++i) context.set_output(i, types[i].dtype, types[i].dims);
  } catch (const Error& error) {
    throw error.within("body").within(context.node().text());
  }
}

double region_flops(const Graph& graph, const Node& node) {
  const Graph body = typed_body(graph, node);
  double flops = 0;
  for (const Node& part : body.nodes) flops += node_cost(body, part).value_or(Cost()).flops;
  return flops;
}

/// True if each node processes the entries of a batch independently, and its results have a batch.
bool region_keeps_batch(const Graph& graph, const Node& node, int64_t) {
  const Graph body = typed_body(graph, node);
  const Dim batch = graph.value(node.outputs[0]).type.dims->front();
  return std::all_of(body.nodes.begin(), body.nodes.end(), [&](const Node& part) {
    const bool carried = std::all_of(part.outputs.begin(), part.outputs.end(), [&](ValueId id) {
      if (id == kNoValue) return true;
      const std::optional<Dims>& dims = body.value(id).type.dims;
      return dims && !dims->empty() && dims->front().same_as(batch);
    });
    return carried && part.has_output(0) &&
           keeps_batch(body, part, static_cast<int64_t>(body.value(part.outputs[0]).type.dims->size()));
  });
}

}  // namespace

void add_region_operator(std::vector<OperatorDef>& table) {
  table.push_back({.name = std::string(kRegion),
                   .since_version = 0,
                   .min_inputs = 1,
                   .max_inputs = OperatorDef::kVariadic,
                   .max_outputs = OperatorDef::kVariadic,
                   .attributes = {required_attribute("kind", AttributeKind::kString),
                                  required_attribute("body", AttributeKind::kGraph)},
                   .infer = infer_region,
                   .flops = region_flops,
                   .keeps_batch = region_keeps_batch});
}

}  // namespace hone::graph
