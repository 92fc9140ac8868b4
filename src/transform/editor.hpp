// Rewrites the nodes of a graph while it keeps track of who makes and who reads each value.
//
// Node indices stay valid until commit(): removed nodes leave a hole, and an inserted node gets an
// index past the end and a place in the order. A pass may only put a node where its inputs are made
// earlier; replacing the last node of a pattern by the fused one always is such a place.
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
  /// Nodes, removed and inserted ones included.
  int32_t count() const { return static_cast<int32_t>(graph_.nodes.size()); }
  bool alive(int32_t index) const { return alive_[static_cast<size_t>(index)]; }
  const Node& node(int32_t index) const { return graph_.nodes[static_cast<size_t>(index)]; }

  /// Index of the node that makes the value, or -1.
  int32_t producer(ValueId id) const { return id == kNoValue ? -1 : producer_[static_cast<size_t>(id)]; }
  /// The node that makes the value when it is an `op`, else null.
  const Node* made_by(ValueId id, std::string_view op) const;
  /// How often nodes read the value.
  size_t read_count(ValueId id) const { return readers_[static_cast<size_t>(id)].count; }
  /// The node that has read the value for the longest time, or -1.
  int32_t first_reader(ValueId id) const;
  /// Indices of the reading nodes, one entry per read.
  std::vector<int32_t> readers(ValueId id) const;
  bool is_output(ValueId id) const { return output_[static_cast<size_t>(id)]; }
  /// The only reader of a value that is no graph output, or -1.
  int32_t single_reader(ValueId id) const;
  /// True if nobody else would miss the value when the node that reads it is fused with its maker.
  bool read_once(ValueId id) const { return single_reader(id) >= 0; }

  /// A new value; its type is inferred after the pass.
  ValueId add_value(const std::string& stem, graph::DType dtype);
  ValueId add_constant(const std::string& stem, graph::Tensor tensor);

  void set_input(int32_t index, size_t position, ValueId to);
  /// Replaces a node by `node`, its attributes completed with defaults. Outputs that only the old node had
  /// are no longer made.
  void replace(int32_t index, Node node);
  /// Puts `node` directly before one of the graph's own nodes; returns its index.
  int32_t insert_before(int32_t index, Node node);
  void remove(int32_t index);
  /// Removes node `index`, whose output `from` always equals `to`, and makes the readers of `from` read
  /// `to`. A graph output keeps its name. False, and nothing done, when a graph output would then be an
  /// input, a constant or another graph output.
  bool forward(int32_t index, ValueId from, ValueId to);

  /// Makes every node that reads `from` read `to`; graph outputs stay.
  void redirect(ValueId from, ValueId to);

  /// Brings the nodes in order and drops the removed ones; the editor is spent.
  void commit();

 private:
  /// One read. It is over when the node has been linked anew since; finding and erasing it at once would take
  /// time with the square of the number of readers.
  struct Read {
    int32_t node;
    int32_t link;
  };
  struct Readers {
    std::vector<Read> reads;
    /// Reads before this one are over.
    mutable size_t begin = 0;
    size_t count = 0;
  };

  bool current(const Read& read) const { return links_[static_cast<size_t>(read.node)] == read.link; }
  /// A name no value has yet, starting with `stem`.
  std::string unique_name(const std::string& stem);
  void link(int32_t index);
  void unlink(int32_t index);
  void grow();

  Graph& graph_;
  std::vector<int32_t> producer_;
  std::vector<Readers> readers_;
  /// For each node, how often it was unlinked.
  std::vector<int32_t> links_;
  std::vector<bool> output_;
  std::vector<bool> alive_;
  /// For each inserted node, the node it stands before.
  std::vector<int32_t> anchors_;
  size_t original_count_;
  /// The names of all values, once a new one was asked for.
  std::unordered_set<std::string> names_;
};

}  // namespace hone::transform
