// Names while a file is being imported: which value a name means in the graph or function at hand.
//
// A scope belongs to one graph under construction. Subgraphs may read names of the graphs around them; such
// a read becomes a capture (an extra input of the subgraph), or a copy when the outer value is a constant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

using AttributeMap = std::map<std::string, const onnx::AttributeProto*>;

/// The data that all graphs of one function body (or of the model itself) share.
struct Frame {
  int opset = 0;            ///< of the default domain; 0 when the file does not import it
  int depth = 0;            ///< of function calls
  std::string prefix;       ///< put in front of every name, so that two calls of a function stay apart
  AttributeMap attributes;  ///< what the call passes, for attribute references
};

struct Capture {
  graph::ValueId outer;
  graph::ValueId inner;
};

class Scope {
 public:
  Scope(graph::Graph& graph, const Frame& frame, Scope* outer) : graph(graph), frame(frame), outer(outer) {}

  graph::Graph& graph;
  const Frame& frame;
  Scope* const outer;
  std::vector<Capture> captures;

  /// kNoValue for the empty name and for absent function inputs; bad input for a name nothing defines.
  graph::ValueId lookup(const std::string& name);
  /// True if the name is taken in this very scope.
  bool defines(const std::string& name) const { return names_.contains(name); }
  /// Bad input when the name is taken in this very scope.
  void define(const std::string& name, graph::ValueId id);
  /// The value's name in the graph at hand: where a caller of the function wants it under one of its own,
  /// that.
  std::string full_name(const std::string& name) const;
  /// The value that is made under this name gets the name and the declared type that `outer_name` has in the
  /// caller's scope.
  void lend_name(const std::string& name, const Scope& caller, const std::string& outer_name);
  /// Type that the file declares for a value not made yet.
  void declare(const std::string& name, graph::TensorType type) { declared_[name] = std::move(type); }
  /// A new value of this name, with its declared type; kNoValue for the empty name.
  graph::ValueId make(const std::string& name);
  /// The sequence of tensors of this name in this very scope; null when there is none.
  const std::vector<graph::ValueId>* find_sequence(const std::string& name) const;
  void define_sequence(const std::string& name, std::vector<graph::ValueId> elements);
  /// The value of this scope's graph that stands for a value of the outer graph.
  graph::ValueId capture(graph::ValueId outer_id);

 private:
  std::optional<graph::ValueId> find(const std::string& name);

  std::unordered_map<std::string, graph::ValueId> names_;
  std::unordered_map<std::string, std::vector<graph::ValueId>> sequences_;
  std::unordered_map<std::string, graph::TensorType> declared_;
  std::unordered_map<std::string, std::string> lent_;
};

}  // namespace hone::importer
