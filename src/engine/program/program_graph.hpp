// The graph that a program is compiled from: the one that was given until something is added to it, whose
// values need a copy.
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

  /// True if a value is absent or a constant of the graph that was given.
  bool is_given_constant(graph::ValueId id) const;
  /// Replaces a node whose result the shapes decide by a constant, which passes could not do while shapes
  /// were open: integers that inference knows, and small tensors that are computed from such and from
  /// constants. False where the node is none. The constant's name distinguishes its content from those of
  /// other shapes.
  bool make_constant(const graph::Node& node);

 private:
  std::shared_ptr<const graph::Graph> given_;
  std::shared_ptr<const graph::Graph> graph_;
  std::shared_ptr<graph::Graph> own_;
};

}  // namespace hone::engine
