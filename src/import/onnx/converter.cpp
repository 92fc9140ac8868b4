// See converter.hpp.
#include "import/onnx/converter.hpp"

#include <algorithm>

#include "import/onnx/adapt.hpp"
#include "import/onnx/attributes.hpp"
#include "import/onnx/expand/expansion.hpp"
#include "import/onnx/expand/sequence_operators.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx/opsets.hpp"
#include "import/onnx/order.hpp"
#include "import/onnx/tensor_proto.hpp"
#include "import/onnx/types.hpp"

namespace hone::importer {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

namespace {

[[noreturn]] void refuse_domain(const std::string& domain) {
  if (domain == kMicrosoft || domain == kMachineLearning) {
    fail_bad_input("this operator of domain '{}' is not supported; docs/OPERATORS.md lists those that are",
                   domain);
  }
  fail_bad_input(
      "domain '{}' is not supported: only ONNX's own operators, some of {} and {}, and functions in the file "
      "are",
      domain.substr(0, 200), kMicrosoft, kMachineLearning);
}

}  // namespace

Converter::Converter(onnx::ModelProto& model, std::filesystem::path folder,
                     std::span<const std::string> given)
    : model_(model), folder_(std::move(folder)), given_(given) {}

graph::Graph Converter::convert() {
  index_functions();
  Frame frame;
  frame.opset = default_opset(model_.opset_import());
  graph::Graph graph;
  Scope scope(graph, frame, nullptr);
  convert_graph(model_.graph(), scope);
  return graph;
}

void Converter::index_functions() {
  if (static_cast<size_t>(model_.functions_size()) > kMaxFunctions) {
    fail_bad_input("field functions has {} entries, the limit is {}", model_.functions_size(), kMaxFunctions);
  }
  for (const auto& function : model_.functions()) {
    const auto key = std::pair(normal_domain(function.domain()), function.name());
    if (!functions_.emplace(key, &function).second) {
      fail_bad_input("function '{}' of domain '{}' is defined twice", function.name(), function.domain());
    }
  }
}

std::set<std::string> Converter::replaced_defaults() const {
  std::set<std::string> names;
  for (const auto& info : model_.graph().input()) {
    if (std::find(given_.begin(), given_.end(), info.name()) != given_.end()) names.insert(info.name());
  }
  return names;
}

void Converter::add_initializers(const onnx::GraphProto& proto, Scope& scope) {
  const bool own = &proto == &model_.graph();
  const std::set<std::string> replaced = own ? replaced_defaults() : std::set<std::string>();
  const auto add = [&](const std::string& name, int64_t data_type, auto&& read) {
    if (replaced.contains(name)) return;
    try {
      scope.define(name, scope.graph.add_constant(scope.frame.prefix + name, read()));
      if (is_narrow(data_type)) narrow_.set(scope.graph, scope.lookup(name), data_type);
    } catch (const Error& error) {
      throw error.within(fmt::format("initializer '{}'", name.substr(0, 200)));
    }
  };
  for (int i = 0; i < proto.initializer_size(); ++i) {
    const std::string name = proto.initializer(i).name();
    // Only the model's own graph is converted just once; graphs in a function body may be converted again.
    add(name, proto.initializer(i).data_type(), [&] {
      return own ? take_tensor(*model_.mutable_graph()->mutable_initializer(i), folder_)
                 : read_tensor(proto.initializer(i), folder_);
    });
  }
  for (const auto& sparse : proto.sparse_initializer()) {
    add(sparse.values().name(), sparse.values().data_type(),
        [&] { return read_sparse_tensor(sparse, folder_); });
  }
}

void Converter::declare_types(const onnx::GraphProto& proto, Scope& scope) {
  const auto declare = [&](const auto& infos, const char* what, bool inside) {
    for (const auto& info : infos) {
      // Sequences inside a graph are resolved; a sequence as its input or output is refused.
      if (inside && info.type().has_sequence_type()) continue;
      if (inside && is_narrow(info.type().tensor_type().elem_type())) continue;
      try {
        scope.declare(info.name(), read_type(info.type()));
      } catch (const Error& error) {
        throw error.within(fmt::format("{} '{}'", what, info.name().substr(0, 200)));
      }
    }
  };
  declare(proto.value_info(), "value_info", true);
  declare(proto.output(), "output", false);
  declare(proto.input(), "input", false);
}

void Converter::add_inputs(const onnx::GraphProto& proto, Scope& scope) {
  for (const auto& info : proto.input()) {
    if (scope.defines(info.name())) continue;  // an initializer gives it its value
    if (info.name().empty()) fail_bad_input("a graph input has no name");
    scope.graph.inputs.push_back(scope.make(info.name()));
  }
}

void Converter::add_outputs(const onnx::GraphProto& proto, Scope& scope) {
  for (const auto& info : proto.output()) {
    if (info.name().empty()) fail_bad_input("a graph output has no name");
    try {
      scope.graph.outputs.push_back(scope.lookup(info.name()));
    } catch (const Error& error) {
      throw error.within("graph output");
    }
  }
}

void Converter::convert_graph(const onnx::GraphProto& proto, Scope& scope) {
  scope.graph.name = checked_name(proto.name(), "graph name");
  declare_types(proto, scope);
  add_initializers(proto, scope);
  add_inputs(proto, scope);
  convert_nodes(proto.node(), scope);
  add_outputs(proto, scope);
}

void Converter::convert_nodes(const Nodes& nodes, Scope& scope) {
  for (const int i : order_nodes(nodes)) {
    if (++node_count_ > kMaxNodes) fail_bad_input("more than {} nodes once functions are inlined", kMaxNodes);
    const auto& proto = nodes[i];
    try {
      convert_node(proto, scope);
    } catch (const Error& error) {
      // The node's name is not added to an error that already has it.
      const std::string text = node_text(proto);
      if (error.where().starts_with("node '")) throw;
      throw error.within(text);
    }
  }
}

void Converter::convert_node(const onnx::NodeProto& proto, Scope& scope) {
  const std::string domain = normal_domain(proto.domain());
  const auto function = functions_.find({domain, proto.op_type()});
  if (function != functions_.end()) return inline_function(*function->second, proto, scope);
  if (const auto* rule = find_expansion(domain, proto.op_type(), scope.frame.opset)) {
    Node node = read_node(proto, scope);
    if (narrow_.convert(scope.graph, node, scope.frame.opset)) return;
    return expand_node(scope.graph, std::move(node), scope.frame.opset, *rule);
  }
  if (!domain.empty()) refuse_domain(domain);
  check_opset(proto.op_type(), scope.frame.opset);
  if (proto.op_type() == "Constant") return add_constant(proto, scope);
  const bool copies_sequence = proto.op_type() == "Identity" && proto.input_size() == 1 &&
                               scope.find_sequence(proto.input(0)) != nullptr;
  if (copies_sequence || is_sequence_operator(proto.op_type())) return add_sequence_operator(proto, scope);
  Node node = read_node(proto, scope);
  if (narrow_.convert(scope.graph, node, scope.frame.opset)) return;
  narrow_.pass_on(scope.graph, node);
  Rewrite(scope.graph, std::move(node), scope.frame.opset).finish();
}

void Converter::add_constant(const onnx::NodeProto& proto, Scope& scope) {
  if (proto.output_size() != 1 || proto.input_size() != 0)
    fail_bad_input("a Constant has one output, no input");
  if (proto.attribute_size() != 1) {
    fail_bad_input("a Constant has exactly one attribute, not {}", proto.attribute_size());
  }
  const auto* attribute = resolve(proto.attribute(0), scope);
  if (attribute == nullptr) fail_bad_input("attribute '{}' has no value", proto.attribute(0).name());
  onnx::AttributeProto named = *attribute;
  named.set_name(proto.attribute(0).name());
  const std::string& name = proto.output(0);
  scope.define(name, scope.graph.add_constant(scope.full_name(name), read_constant(named, folder_)));
  if (named.has_t() && is_narrow(named.t().data_type()))
    narrow_.set(scope.graph, scope.lookup(name), named.t().data_type());
}

void Converter::add_sequence_operator(const onnx::NodeProto& proto, Scope& scope) {
  Node node = read_header(proto, scope);
  const Sequence* sequence = proto.input_size() > 0 ? scope.find_sequence(proto.input(0)) : nullptr;
  for (int i = 0; i < proto.input_size(); ++i) {
    node.inputs.push_back(i == 0 && sequence != nullptr ? kNoValue : scope.lookup(proto.input(i)));
  }
  if (proto.output_size() != 1) fail_bad_input("{} outputs, expected one", proto.output_size());
  const std::string op = node.op;
  if (!makes_sequence(op)) node.outputs = {scope.make(proto.output(0))};
  Expansion expansion(scope.graph, std::move(node), scope.frame.opset);
  Sequence result = expand_sequence(expansion, op, sequence);
  expansion.finish();
  sequence_elements_ += result.size();
  if (sequence_elements_ > kMaxSequenceElements)
    fail_bad_input("all sequences together have more than {} elements", kMaxSequenceElements);
  if (makes_sequence(op)) scope.define_sequence(proto.output(0), std::move(result));
}

Node Converter::read_header(const onnx::NodeProto& proto, Scope& scope) {
  Node node;
  node.op = checked_name(proto.op_type(), "operator name");
  node.name = checked_name(proto.name(), "node name");
  if (node.name.empty()) node.name = fmt::format("{}_{}", node.op, scope.graph.nodes.size());
  node.name = scope.frame.prefix + node.name;
  node.sources = {node.name};
  add_attributes(proto, scope, node);
  return node;
}

Node Converter::read_node(const onnx::NodeProto& proto, Scope& scope) {
  Node node = read_header(proto, scope);
  for (const auto& name : proto.input()) node.inputs.push_back(scope.lookup(name));
  add_subgraphs(proto, scope, node);
  for (const auto& name : proto.output()) node.outputs.push_back(scope.make(name));
  return node;
}

const onnx::AttributeProto* Converter::resolve(const onnx::AttributeProto& proto, const Scope& scope) {
  if (!proto.has_ref_attr_name() || proto.ref_attr_name().empty()) return &proto;
  const auto found = scope.frame.attributes.find(proto.ref_attr_name());
  return found == scope.frame.attributes.end() ? nullptr : found->second;
}

void Converter::add_attributes(const onnx::NodeProto& proto, Scope& scope, Node& node) {
  for (const auto& attribute : proto.attribute()) {
    checked_name(attribute.name(), "attribute name");
    const auto* resolved = resolve(attribute, scope);
    if (resolved == nullptr || resolved->has_g()) continue;
    if (node.attributes.has(attribute.name()))
      fail_bad_input("attribute '{}' stands twice", attribute.name());
    node.attributes.set(attribute.name(), read_attribute(*resolved, folder_));
  }
}

void Converter::add_subgraphs(const onnx::NodeProto& proto, Scope& scope, Node& node) {
  struct Part {
    std::shared_ptr<graph::Graph> graph;
    std::unique_ptr<Scope> scope;
  };
  std::vector<Part> parts;
  for (const auto& attribute : proto.attribute()) {
    const auto* resolved = resolve(attribute, scope);
    if (resolved == nullptr || !resolved->has_g()) continue;
    if (++graph_depth_ > kMaxGraphDepth)
      fail_bad_input("graphs are nested more than {} deep", kMaxGraphDepth);
    Part part{std::make_shared<graph::Graph>(), nullptr};
    part.scope = std::make_unique<Scope>(*part.graph, scope.frame, &scope);
    convert_graph(resolved->g(), *part.scope);
    --graph_depth_;
    if (node.attributes.has(attribute.name()))
      fail_bad_input("attribute '{}' stands twice", attribute.name());
    node.attributes.set(attribute.name(), part.graph);
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return;
  std::vector<ValueId> captured;
  for (const Part& part : parts) {
    for (const Capture& capture : part.scope->captures) {
      if (std::find(captured.begin(), captured.end(), capture.outer) == captured.end()) {
        captured.push_back(capture.outer);
      }
    }
  }
  for (const Part& part : parts) {
    for (const ValueId outer : captured) part.graph->inputs.push_back(part.scope->capture(outer));
  }
  node.inputs.insert(node.inputs.end(), captured.begin(), captured.end());
  node.attributes.set("num_captures", static_cast<int64_t>(captured.size()));
}

void Converter::inline_function(const onnx::FunctionProto& function, const onnx::NodeProto& call,
                                Scope& scope) {
  Frame frame;
  frame.depth = scope.frame.depth + 1;
  if (frame.depth > kMaxFunctionDepth) {
    fail_bad_input("functions call each other more than {} deep, or in a circle", kMaxFunctionDepth);
  }
  frame.opset = function.opset_import_size() > 0 ? default_opset(function.opset_import()) : scope.frame.opset;
  frame.prefix = fmt::format("{}{}.{}/", scope.frame.prefix, function.name().substr(0, 200), node_count_);
  const auto defaults = function_defaults(function);
  for (const auto& attribute : defaults) frame.attributes[attribute.name()] = &attribute;
  for (const auto& attribute : call.attribute()) {
    if (const auto* resolved = resolve(attribute, scope)) frame.attributes[attribute.name()] = resolved;
  }
  if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
    fail_bad_input("function '{}' has {} inputs and {} outputs, the call {} and {}", function.name(),
                   function.input_size(), function.output_size(), call.input_size(), call.output_size());
  }
  Scope body(scope.graph, frame, nullptr);
  for (int i = 0; i < function.input_size(); ++i) {
    const Sequence* sequence = i < call.input_size() ? scope.find_sequence(call.input(i)) : nullptr;
    if (sequence != nullptr) {
      body.define_sequence(function.input(i), *sequence);
    } else {
      body.define(function.input(i), i < call.input_size() ? scope.lookup(call.input(i)) : kNoValue);
    }
  }
  for (int i = 0; i < call.output_size(); ++i) {
    if (!call.output(i).empty()) body.lend_name(function.output(i), scope, call.output(i));
  }
  convert_nodes(function.node(), body);
  for (int i = 0; i < call.output_size(); ++i) {
    if (call.output(i).empty()) continue;
    if (const Sequence* sequence = body.find_sequence(function.output(i))) {
      scope.define_sequence(call.output(i), *sequence);
    } else {
      define_result(call.output(i), body.lookup(function.output(i)), scope);
    }
  }
}

void Converter::define_result(const std::string& name, ValueId id, Scope& scope) {
  if (id == kNoValue || scope.graph.value(id).name == scope.full_name(name)) return scope.define(name, id);
  // The result is an input that the function passes on, or a value that is returned twice.
  Node copy;
  copy.op = "Identity";
  copy.name = scope.full_name(name);
  copy.sources = {copy.name};
  copy.inputs = {id};
  copy.outputs = {scope.make(name)};
  Rewrite(scope.graph, std::move(copy), kMaxOpset).finish();
}

}  // namespace hone::importer
