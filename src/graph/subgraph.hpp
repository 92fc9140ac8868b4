// Types inside the subgraphs of If, Loop and Scan. A subgraph is closed: its inputs are its formal inputs
// followed by all captured values, which are the last `num_captures` inputs of the node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// The known type, shape and data of a value that is passed to a subgraph.
struct SubgraphInput {
  TensorType type;
  std::optional<Dims> data;
  /// Null unless the value is constant; must outlive the call it is passed to.
  const Tensor* constant = nullptr;
};

/// A copy of a subgraph with the types that follow from these inputs. Throws bad input if the number of
/// inputs differs, a type contradicts a declared one, or a rule inside fails.
Graph typed_subgraph(const Graph& body, std::span<const SubgraphInput> inputs);
/// The output types of typed_subgraph().
std::vector<TensorType> infer_subgraph(const Graph& body, std::span<const SubgraphInput> inputs);
/// Output types of a subgraph that may never run: shapes that contradict each other become unknown.
std::vector<TensorType> infer_branch(const Graph& body, std::span<const SubgraphInput> inputs);

/// Returns what is known of the inputs of the subgraphs of an If, a Loop or a Scan in every iteration of
/// any run. Throws bad input if inference fails; pointers are into the graph.
std::vector<SubgraphInput> subgraph_inputs(const Graph& graph, const Node& node);
/// True if the node is an If, a Loop or a Scan, which run subgraphs depending on data.
bool controls_subgraphs(const Node& node);
/// Names of the attributes that hold the subgraphs of such a node; for an If, the branch for a true
/// condition comes first.
std::vector<std::string> subgraph_attributes(const Node& node);

/// Converts the nodes of a subgraph to nodes of `graph`, and adds their values to it. The nodes read `inputs`
/// instead of the subgraph's inputs, and produce `outputs` (kNoValue for unused ones). New names begin with
/// `prefix`.
std::vector<Node> inline_subgraph(Graph& graph, const Graph& body, std::span<const ValueId> inputs,
                                  std::span<const ValueId> outputs, const std::string& prefix);

/// The condition of an If, if it is constant or known from shape inference; nullopt otherwise, and for other
/// nodes.
std::optional<bool> known_condition(const Graph& graph, const Node& node);
/// The branch of an If for this condition as nodes that replace the If, with their types inferred. Names
/// begin with the node's name and `which`, which makes them unique.
std::vector<Node> inline_branch(Graph& graph, const Node& node, bool condition, const std::string& which);

/// Joins two types: a dimension that differs becomes unknown, and so does the whole shape if the ranks
/// differ. Throws bad input if the element types differ.
TensorType join(const TensorType& a, const TensorType& b);

/// Shape of the iteration number (input 0) and condition (input 1) that a Loop's body declares: scalars, or
/// vectors of one element.
tensor::Shape loop_scalar_shape(const Graph& body, size_t input);

/// Attribute num_captures; bad input if it is not in [0, inputs].
size_t capture_count(const Attributes& attributes, size_t inputs);

}  // namespace hone::graph
