// Walks the messages of an ONNX model and builds the graph.
//
// One converter imports one model. Nodes are added in order, and their types inferred at once, because
// rewriting an old form may need the rank of its input. Model-local functions are inlined. Subgraphs are
// closed: outer values that they read become extra inputs (graph.hpp).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "graph/graph.hpp"
#include "import/onnx/external_data.hpp"
#include "import/onnx/narrow_types.hpp"
#include "import/onnx/proto.hpp"
#include "import/onnx/scope.hpp"

namespace hone::importer {

class Converter {
 public:
  /// `model` must outlive the converter; the bytes of its initializers are moved, not copied. `given` lists
  /// the inputs whose initializers are only defaults.
  Converter(onnx::ModelProto& model, std::filesystem::path folder, std::span<const std::string> given);

  graph::Graph convert();

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  void index_functions();
  /// The model's inputs whose initializers are ignored.
  std::set<std::string> replaced_defaults() const;
  void add_initializers(const onnx::GraphProto& proto, Scope& scope);
  void add_inputs(const onnx::GraphProto& proto, Scope& scope);
  void declare_types(const onnx::GraphProto& proto, Scope& scope);
  void add_outputs(const onnx::GraphProto& proto, Scope& scope);
  void convert_graph(const onnx::GraphProto& proto, Scope& scope);
  void convert_nodes(const Nodes& nodes, Scope& scope);
  void convert_node(const onnx::NodeProto& proto, Scope& scope);
  void add_constant(const onnx::NodeProto& proto, Scope& scope);
  /// The node as it is in the file; its outputs are new values.
  graph::Node read_node(const onnx::NodeProto& proto, Scope& scope);
  /// Adds an operator on sequences of tensors. Only the elements of sequences become values of the graph.
  void add_sequence_operator(const onnx::NodeProto& proto, Scope& scope);
  /// Name, operator and attributes of the node, without inputs and outputs.
  graph::Node read_header(const onnx::NodeProto& proto, Scope& scope);
  void inline_function(const onnx::FunctionProto& function, const onnx::NodeProto& call, Scope& scope);
  /// Gives a function's result the name that it has at the call.
  void define_result(const std::string& name, graph::ValueId id, Scope& scope);
  void add_attributes(const onnx::NodeProto& proto, Scope& scope, graph::Node& node);
  void add_subgraphs(const onnx::NodeProto& proto, Scope& scope, graph::Node& node);
  /// The attribute itself, or the one that the function's caller passed for it; null if it passed none.
  static const onnx::AttributeProto* resolve(const onnx::AttributeProto& proto, const Scope& scope);

  onnx::ModelProto& model_;
  ExternalFolder folder_;
  std::span<const std::string> given_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  NarrowValues narrow_;
  size_t node_count_ = 0;
  size_t sequence_elements_ = 0;
  int graph_depth_ = 0;
};

}  // namespace hone::importer
