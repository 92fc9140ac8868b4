// Resolves names while a file is imported: finds the value of a name in the current graph or function.
//
// A scope belongs to one graph under construction. Subgraphs may read names of the graphs around them; such
// a read becomes a capture (an extra input of the subgraph), or a copy if the outer value is a constant.
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
  int opset = 0;            ///< of the default domain; 0 if the file does not import it
  int depth = 0;            ///< of function calls
  std::string prefix;       ///< prepended to every name, so that two calls of a function have distinct names
  AttributeMap attributes;  ///< the attributes of the call, for attribute references
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

  /// kNoValue for the empty name and for absent function inputs; bad input for an undefined name.
  graph::ValueId lookup(const std::string& name);
  /// True if the name is defined in this scope itself.
  bool defines(const std::string& name) const { return names_.contains(name); }
  /// Throws bad input if the name is already defined in this scope itself.
  void define(const std::string& name, graph::ValueId id);
  /// The value's name in the current graph. If the caller of the function has its own name for it, that name
  /// is used.
  std::string full_name(const std::string& name) const;
  /// The value that will be created under this name gets the name and the declared type of `outer_name` in
  /// the caller's scope.
  void lend_name(const std::string& name, const Scope& caller, const std::string& outer_name);
  /// Sets the type that the file declares for a value that does not exist yet.
  void declare(const std::string& name, graph::TensorType type) { declared_[name] = std::move(type); }
  /// Creates a value of this name, with its declared type; kNoValue for the empty name.
  graph::ValueId make(const std::string& name);
  /// The sequence of tensors of this name in this scope itself; null if there is none.
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
