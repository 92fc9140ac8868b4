// Finds the nodes of a graph that have a lowering to ATen, by trying each one.
#include <charconv>

#include "backend/torch/plugin/bind.hpp"
#include "backend/torch/plugin/executable.hpp"
#include "backend/torch/plugin/lowering.hpp"
#include "backend/torch/plugin/program.hpp"

namespace hone::backend::aten {
namespace {

/// Names each node by its index, because binding removes nodes.
graph::Graph numbered(const graph::Graph& graph) {
  graph::Graph result = graph;
  for (size_t i = 0; i < result.nodes.size(); ++i) result.nodes[i].name = std::to_string(i);
  return result;
}

/// A program that has types and placement, but neither weights nor steps.
Program empty_program(const graph::Graph& bound, const Placement& placement, const std::string& backend) {
  auto graph = std::make_shared<graph::Graph>(bound);
  graph->nodes.clear();
  for (graph::Value& value : graph->values) value.constant.reset();
  return Program(std::move(graph), placement, backend, /*traced=*/false);
}

/// The reason at the end of a sentence about the node.
std::string reason_of(const std::string& sentence, const graph::Node& node) {
  const std::string begin = node.text() + ": ";
  const size_t found = sentence.find(begin);
  return found == std::string::npos ? fmt::format("{} has no lowering to ATen", node.op)
                                    : sentence.substr(found + begin.size());
}

}  // namespace

std::vector<Refusal> refused_nodes(const graph::Graph& graph, const LoadOptions& options,
                                   const Placement& placement, const std::string& backend, bool traced) {
  std::vector<Refusal> refusals(graph.nodes.size());
  const graph::Graph bound = bind_shapes(numbered(graph), options.input_shapes);
  const Program program = empty_program(bound, placement, backend);
  for (const graph::Node& node : bound.nodes) {
    size_t index = 0;
    std::from_chars(node.name.data(), node.name.data() + node.name.size(), index);
    try {
      lower({bound, node, program, backend, traced});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput) throw;
      refusals[index] = reason_of(error.sentence(), node);
    }
  }
  return refusals;
}

}  // namespace hone::backend::aten
