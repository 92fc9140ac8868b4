// Types inside the subgraphs of If, Loop and Scan. A subgraph is closed: its inputs are its formal inputs
// and then everything that it captures, which stand as the last `num_captures` inputs of the node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// The known type, shape and data of a value that is handed to a subgraph.
struct SubgraphInput {
  TensorType type;
  std::optional<Dims> data;
  /// Null unless the value is constant; must outlive the call it is passed to.
  const Tensor* constant = nullptr;
};

/// A copy of a subgraph with the types that it has for these inputs. Bad input when the number of inputs
/// differs, a type contradicts a declared one, or a rule inside fails.
Graph typed_subgraph(const Graph& body, std::span<const SubgraphInput> inputs);
/// Output types of that copy.
std::vector<TensorType> infer_subgraph(const Graph& body, std::span<const SubgraphInput> inputs);
/// Output types of a subgraph that may not run: shapes that do not fit are unknown.
std::vector<TensorType> infer_branch(const Graph& body, std::span<const SubgraphInput> inputs);

/// Returns the inputs of the subgraphs of an If, a Loop or a Scan, as far as they hold in every iteration of
/// any run. Bad input where inference fails; pointers are into the graph.
std::vector<SubgraphInput> subgraph_inputs(const Graph& graph, const Node& node);
/// True if the node is an If, a Loop or a Scan: what runs subgraphs as often as data say.
bool controls_subgraphs(const Node& node);
/// Names of the attributes of such a node that hold its subgraphs, the
/// branch for a true condition first.
std::vector<std::string> subgraph_attributes(const Node& node);

/// The nodes of a subgraph as nodes of `graph`, which is given their values: those read `inputs` instead of
/// the subgraph's, and make `outputs` (kNoValue where nobody wants one). New names begin with `prefix`.
std::vector<Node> inline_subgraph(Graph& graph, const Graph& body, std::span<const ValueId> inputs,
                                  std::span<const ValueId> outputs, const std::string& prefix);

/// True if the condition of an If holds, where a constant or shape inference says so; nullopt for other
/// nodes.
std::optional<bool> known_condition(const Graph& graph, const Node& node);
/// The branch of an If for that condition as nodes that replace it, with their types inferred; names begin
/// with the node's and `which`, which distinguishes it from others of that name.
std::vector<Node> inline_branch(Graph& graph, const Node& node, bool condition, const std::string& which);

/// Joins two types: a dimension that differs becomes unknown, and so does the whole shape if the ranks
/// differ. Bad input when the element types differ.
TensorType join(const TensorType& a, const TensorType& b);

/// Shape of the iteration number (input 0) and condition (input 1) that a Loop's body declares: scalars, or
/// vectors of one element.
tensor::Shape loop_scalar_shape(const Graph& body, size_t input);

/// Attribute num_captures; bad input when it is not in [0, inputs].
size_t capture_count(const Attributes& attributes, size_t inputs);

}  // namespace hone::graph
