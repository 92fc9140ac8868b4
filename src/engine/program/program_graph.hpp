// The graph from which a program is compiled: the given graph, which is copied when something is first added
// to it.
#pragma once

#include <memory>
#include <utility>

#include "graph/graph.hpp"

namespace hone::engine {

class ProgramGraph {
 public:
  explicit ProgramGraph(std::shared_ptr<const graph::Graph> given)
      : given_(std::move(given)), graph_(given_) {}

  const graph::Graph& operator*() const { return *graph_; }
  const graph::Graph* operator->() const { return graph_.get(); }
  const graph::Graph& given() const { return *given_; }
  std::shared_ptr<const graph::Graph> share() const { return graph_; }
  graph::Graph& own();

  /// True if a value is absent or a constant of the given graph.
  bool is_given_constant(graph::ValueId id) const;
  /// Replaces a node whose result depends only on shapes by a constant, which passes could not do while
  /// shapes were open: integers that shape inference knows, and small tensors that are computed from such
  /// values and constants. Returns false for other nodes. The constant's name depends on its content, so that
  /// it differs between shapes.
  bool make_constant(const graph::Node& node);

 private:
  std::shared_ptr<const graph::Graph> given_;
  std::shared_ptr<const graph::Graph> graph_;
  std::shared_ptr<graph::Graph> own_;
};

}  // namespace hone::engine
