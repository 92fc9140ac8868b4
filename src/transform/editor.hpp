// Rewrites the nodes of a graph, and keeps track of the producer and the readers of each value.
//
// Node indices stay valid until commit(): removed nodes leave gaps, and an inserted node gets an index after
// the end and a position in the order. A pass may place a node only after the producers of its inputs; the
// position of the last node of a pattern is always valid for the fused node.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

class Editor {
 public:
  explicit Editor(Graph& graph);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  /// Number of nodes, including removed and inserted ones.
  int32_t count() const { return static_cast<int32_t>(graph_.nodes.size()); }
  bool alive(int32_t index) const { return alive_[static_cast<size_t>(index)]; }
  const Node& node(int32_t index) const { return graph_.nodes[static_cast<size_t>(index)]; }

  /// Index of the node that produces the value, or -1.
  int32_t producer(ValueId id) const { return id == kNoValue ? -1 : producer_[static_cast<size_t>(id)]; }
  /// The node that produces the value if its operator is `op`, else null.
  const Node* made_by(ValueId id, std::string_view op) const;
  /// The number of reads of the value by nodes.
  size_t read_count(ValueId id) const { return readers_[static_cast<size_t>(id)].count; }
  /// The node that has read the value for the longest time, or -1.
  int32_t first_reader(ValueId id) const;
  /// Indices of the reading nodes, with one entry for each read.
  std::vector<int32_t> readers(ValueId id) const;
  bool is_output(ValueId id) const { return output_[static_cast<size_t>(id)]; }
  /// The only reader of a value that is not a graph output, or -1.
  int32_t single_reader(ValueId id) const;
  /// True if the value is not needed elsewhere when its reader is fused with its producer.
  bool read_once(ValueId id) const { return single_reader(id) >= 0; }

  /// Adds a value, whose type is inferred after the pass.
  ValueId add_value(const std::string& stem, graph::DType dtype);
  ValueId add_constant(const std::string& stem, graph::Tensor tensor);

  void set_input(int32_t index, size_t position, ValueId to);
  /// Replaces a node by `node`, whose attributes are completed with defaults. Outputs that only the old node
  /// had are no longer produced.
  void replace(int32_t index, Node node);
  /// Inserts `node` directly before one of the graph's own nodes; returns its index.
  int32_t insert_before(int32_t index, Node node);
  void remove(int32_t index);
  /// Removes node `index`, whose output `from` always equals `to`, and lets the readers of `from` read `to`.
  /// A graph output keeps its name. Returns false without any effect if a graph output would then be an
  /// input, a constant or another graph output.
  bool forward(int32_t index, ValueId from, ValueId to);

  /// Lets every node that reads `from` read `to`; graph outputs stay.
  void redirect(ValueId from, ValueId to);

  /// Sorts the nodes and drops the removed ones; the editor cannot be used afterwards.
  void commit();

 private:
  /// One read of a value. It is outdated if the node has been linked again since. Outdated reads are not
  /// erased at once, because that would take quadratic time in the number of readers.
  struct Read {
    int32_t node;
    int32_t link;
  };
  struct Readers {
    std::vector<Read> reads;
    /// Reads before this index are outdated.
    mutable size_t begin = 0;
    size_t count = 0;
  };

  bool current(const Read& read) const { return links_[static_cast<size_t>(read.node)] == read.link; }
  /// A name that no value has yet, starting with `stem`.
  std::string unique_name(const std::string& stem);
  void link(int32_t index);
  void unlink(int32_t index);
  void grow();

  Graph& graph_;
  std::vector<int32_t> producer_;
  std::vector<Readers> readers_;
  /// For each node, the number of times that it was unlinked.
  std::vector<int32_t> links_;
  std::vector<bool> output_;
  std::vector<bool> alive_;
  /// For each inserted node, the node before which it is placed.
  std::vector<int32_t> anchors_;
  size_t original_count_;
  /// The names of all values, after a new one was requested.
  std::unordered_set<std::string> names_;
};

}  // namespace hone::transform
