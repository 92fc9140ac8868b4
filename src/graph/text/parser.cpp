// See parser.hpp. The parser uses recursive descent, with one function for each rule of the grammar.
#include "graph/text/parser.hpp"

#include <unordered_map>

#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/text/lexer.hpp"
#include "graph/text/node_names.hpp"
#include "graph/text/tensor_reader.hpp"

namespace hone::graph {
namespace {

/// Limit on nested graphs. Inference runs a body several times, so its time is exponential in the depth.
constexpr int kMaxDepth = 8;
constexpr size_t kMaxNodes = 250'000;
constexpr size_t kMaxValues = size_t{1} << 20;

class GraphParser {
 public:
  GraphParser(Lexer& lexer, TextBudget& budget, int depth) : lexer_(lexer), budget_(budget), depth_(depth) {}

  Graph parse() {
    if (depth_ > kMaxDepth) lexer_.next().fail("graphs are nested deeper than {}", kMaxDepth);
    lexer_.expect("graph");
    if (lexer_.next().kind == Token::Kind::kString) graph_.name = lexer_.take().text;
    read_inputs();
    lexer_.expect("->");
    const std::vector<Token> outputs = read_outputs();
    lexer_.expect("{");
    while (!lexer_.accept("}")) read_statement();
    for (const Token& output : outputs) {
      const auto found = names_.find(output.text);
      if (found == names_.end()) output.fail("output {} is defined nowhere in the graph", output.shown());
      graph_.outputs.push_back(found->second);
    }
    return std::move(graph_);
  }

 private:
  void read_inputs() {
    lexer_.expect("(");
    if (lexer_.accept(")")) return;
    do {
      const Token name = lexer_.expect(Token::Kind::kValue, "an input");
      const ValueId id = define(name);
      if (lexer_.accept(":")) graph_.value(id).type = read_type(lexer_);
      graph_.inputs.push_back(id);
    } while (lexer_.accept(","));
    lexer_.expect(")");
  }

  std::vector<Token> read_outputs() {
    std::vector<Token> names;
    lexer_.expect("(");
    if (lexer_.accept(")")) return names;
    do names.push_back(lexer_.expect(Token::Kind::kValue, "an output"));
    while (lexer_.accept(","));
    lexer_.expect(")");
    return names;
  }

  void read_statement() {
    std::vector<Token> results;
    do results.push_back(read_result());
    while (lexer_.accept(","));
    lexer_.expect("=");
    if (!lexer_.accept("const")) return read_node(results);
    if (results.size() != 1 || results[0].kind != Token::Kind::kValue)
      results[0].fail("a constant has one result with a name");
    Tensor tensor = read_tensor(lexer_, budget_);
    Value& value = graph_.value(define(results[0]));
    value.type = {tensor.dtype(), Dims(tensor.shape().begin(), tensor.shape().end())};
    value.constant = std::move(tensor);
  }

  Token read_result() {
    if (lexer_.next().is("_")) return lexer_.take();
    return lexer_.expect(Token::Kind::kValue, "a result");
  }

  void read_node(const std::vector<Token>& results) {
    const Token op = lexer_.expect(Token::Kind::kWord, "an operator");
    const OperatorDef* def = find_operator(op.text);
    if (def == nullptr) op.fail("operator {} is not known", op.shown());
    if (++budget_.nodes > kMaxNodes) op.fail("the text has more than {} nodes", kMaxNodes);
    Node node;
    node.op = op.text;
    read_operands(node);
    read_attributes(*def, node);
    std::vector<TensorType> types(results.size());
    if (lexer_.accept(":")) read_result_types(types);
    read_names(results, node);
    for (size_t i = 0; i < results.size(); ++i) {
      const bool absent = results[i].kind != Token::Kind::kValue;
      node.outputs.push_back(absent ? kNoValue : define(results[i]));
      if (!absent) graph_.value(node.outputs.back()).type = std::move(types[i]);
    }
    try {
      complete_node(node);
      infer_node(graph_, graph_.add_node(std::move(node)));
    } catch (const Error& error) {
      throw error.within(op.where());
    }
  }

  void read_operands(Node& node) {
    lexer_.expect("(");
    if (lexer_.accept(")")) return;
    do
      node.inputs.push_back(lexer_.accept("_") ? kNoValue
                                               : lookup(lexer_.expect(Token::Kind::kValue, "an operand")));
    while (lexer_.accept(","));
    lexer_.expect(")");
  }

  void read_attributes(const OperatorDef& def, Node& node) {
    if (!lexer_.accept("{") || lexer_.accept("}")) return;
    do {
      const Token name = lexer_.expect(Token::Kind::kWord, "an attribute");
      const AttributeDef* attribute = def.find_attribute(name.text);
      if (attribute == nullptr) name.fail("{} has no attribute {}", def.name, name.shown());
      if (node.attributes.has(name.text)) name.fail("attribute {} is there twice", name.shown());
      lexer_.expect("=");
      node.attributes.set(name.text, read_attribute(attribute->kind));
    } while (lexer_.accept(","));
    lexer_.expect("}");
  }

  Attribute read_attribute(AttributeKind kind) {
    switch (kind) {
      case AttributeKind::kInt: return read_int(lexer_);
      case AttributeKind::kFloat: return read_float(lexer_);
      case AttributeKind::kString: return read_string(lexer_);
      case AttributeKind::kInts: return read_list(read_int);
      case AttributeKind::kFloats: return read_list(read_float);
      case AttributeKind::kStrings: return read_list(read_string);
      case AttributeKind::kTensor: return read_whole_tensor();
      case AttributeKind::kGraph:
        return std::make_shared<Graph>(GraphParser(lexer_, budget_, depth_ + 1).parse());
    }
    fail_internal("an attribute is of no kind");
  }

  /// A tensor of an attribute; bad input if it has no bytes, because nodes read its elements.
  Tensor read_whole_tensor() {
    const Token where = lexer_.next();
    Tensor tensor = read_tensor(lexer_, budget_);
    if (tensor.bytes() == nullptr && tensor.size() > 0)
      where.fail("the elements of this attribute were left out when the text was written");
    return tensor;
  }

  static std::string read_string(Lexer& lexer) { return lexer.expect(Token::Kind::kString, "a string").text; }

  template <class T>
  std::vector<T> read_list(T (*read)(Lexer&)) {
    std::vector<T> list;
    lexer_.expect("[");
    if (lexer_.accept("]")) return list;
    do list.push_back(read(lexer_));
    while (lexer_.accept(","));
    lexer_.expect("]");
    return list;
  }

  /// Reads one type for each result; `_` stands for an undeclared type.
  void read_result_types(std::vector<TensorType>& types) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (i > 0) lexer_.expect(",");
      if (!lexer_.accept("_")) types[i] = read_type(lexer_);
    }
  }

  void read_names(const std::vector<Token>& results, Node& node) {
    std::optional<std::string> name;
    if (lexer_.accept("name")) name = read_string(lexer_);
    const bool has_sources = lexer_.accept("from");
    if (has_sources) node.sources = read_list(read_string);
    std::string first;
    for (const Token& result : results) {
      if (first.empty() && result.kind == Token::Kind::kValue) first = result.text;
    }
    node.name = name ? *name : default_node_name(node.sources, first);
    if (!has_sources) node.sources = default_sources(node.name);
  }

  ValueId define(const Token& name) {
    if (++budget_.values > kMaxValues) name.fail("the text has more than {} values", kMaxValues);
    const ValueId id = graph_.add_value(name.text);
    if (!names_.emplace(name.text, id).second) name.fail("value {} is defined twice", name.shown());
    return id;
  }

  ValueId lookup(const Token& name) const {
    const auto found = names_.find(name.text);
    if (found != names_.end()) return found->second;
    name.fail("value {} is not defined{}", name.shown(),
              depth_ > 0 ? " in this graph, which sees its own inputs and nothing outside" : " before this");
  }

  Lexer& lexer_;
  TextBudget& budget_;
  int depth_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> names_;
};

}  // namespace

Graph parse_graph(std::string_view text, const ParseOptions& options) {
  Lexer lexer(text);
  TextBudget budget{.bytes = options.max_described_bytes,
                    .elided_fill = options.elided_fill,
                    .keep_elided = options.keep_elided};
  Graph graph = GraphParser(lexer, budget, 0).parse();
  if (lexer.next().kind != Token::Kind::kEnd)
    lexer.next().fail("the graph has ended, and {} follows", lexer.next().shown());
  return graph;
}

}  // namespace hone::graph
