// Runs a node whose shapes are only known when it runs by the tactics of the device: a program of this one
// node is compiled for the shapes that are met, and kept for the next time they are.
//
// Rows of a product that come in any number are padded to one of few numbers, so that a detector whose number
// of boxes always changes compiles next to nothing. Small nodes run by the reference kernel, which is faster
// than preparing another one.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "engine/program/node_kernel.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// State that the deferred nodes of a program share. Safe for concurrent use, but for take_weights(). The
/// device outlives it.
class NodeCompiler {
 public:
  NodeCompiler(const Device& device, Layout layout, NumericPolicy policy)
      : device_(device), layout_(layout), policy_(policy) {}

  /// Forms of constants that are there already.
  void take_weights(const WeightStore& weights) { weights_ = weights; }
  /// A graph of one node with concrete shapes. `float32`: whatever the engine's policy is.
  std::shared_ptr<const Program> compile(graph::Graph graph, bool float32);
  const Device& device() const { return device_; }

 private:
  const Device& device_;
  Layout layout_;
  NumericPolicy policy_;
  std::mutex mutex_;
  WeightStore weights_;
};

/// Rows that a product of `rows` rows is compiled for: the next number of four significant bits.
int64_t padded_rows(int64_t rows);

/// Makes the kernel of a node of `graph`, whose constants it shares.
std::shared_ptr<const NodeKernel> make_deferred_node(const graph::Graph& graph, const graph::Node& node,
                                                     std::shared_ptr<NodeCompiler> compiler, bool float32);

}  // namespace hone::engine
