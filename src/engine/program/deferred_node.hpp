// Runs a node whose shapes become known only at run time with the tactics of the device: a program of this
// single node is compiled for the actual shapes and kept for later runs.
//
// If the number of rows of a product varies, it is padded to one of a few numbers, so that a detector whose
// number of boxes always changes rarely compiles. Small nodes use the reference kernel, which is faster than
// preparing another one.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "engine/program/node_kernel.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// State that the deferred nodes of a program share. Safe for concurrent use, except take_weights(). The
/// device must outlive it.
class NodeCompiler {
 public:
  NodeCompiler(const Device& device, Layout layout, NumericPolicy policy)
      : device_(device), layout_(layout), policy_(policy) {}

  /// Takes packed forms of constants that already exist.
  void take_weights(const WeightStore& weights) { weights_ = weights; }
  /// Compiles a graph of one node with concrete shapes. With `float32`, the policy is fp32 whatever the
  /// engine's policy is.
  std::shared_ptr<const Program> compile(graph::Graph graph, bool float32);
  const Device& device() const { return device_; }

 private:
  const Device& device_;
  Layout layout_;
  NumericPolicy policy_;
  std::mutex mutex_;
  WeightStore weights_;
};

/// The number of rows for which a product of `rows` rows is compiled: the next number with four significant
/// bits.
int64_t padded_rows(int64_t rows);

/// Makes the kernel of a node of `graph`, whose constants it shares.
std::shared_ptr<const NodeKernel> make_deferred_node(const graph::Graph& graph, const graph::Node& node,
                                                     std::shared_ptr<NodeCompiler> compiler, bool float32);

}  // namespace hone::engine
