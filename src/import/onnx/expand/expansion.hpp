// Expands operators that hone's table lacks into subgraphs of operators that it has: newer standard
// operators, and those of com.microsoft and ai.onnx.ml. Each other file of this folder has the rules of one
// family.
//
// A rule reads the attributes and inputs that it supports and sets every output that it produces. An
// attribute or input that the rule did not read is refused by name, so that no unknown option is ignored.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace hone::importer {

/// A dimension or an index: a number if it is known, otherwise a dimension of a value, or an int64 value
/// with one element.
struct Extent {
  Extent(int64_t number) : number(number) {}  // NOLINT(google-explicit-constructor): a number is an extent
  static Extent of(graph::ValueId value) {
    Extent extent(0);
    extent.number.reset();
    extent.value = value;
    return extent;
  }
  static Extent of_dimension(graph::ValueId source, int64_t axis) {
    Extent extent = of(graph::kNoValue);
    extent.source = source;
    extent.axis = axis;
    return extent;
  }

  bool known() const { return number.has_value(); }
  bool is(int64_t wanted) const { return number == wanted; }

  std::optional<int64_t> number;
  graph::ValueId value = graph::kNoValue;
  graph::ValueId source = graph::kNoValue;
  int64_t axis = 0;
};

graph::Attributes attributes(std::initializer_list<std::pair<const char*, graph::Attribute>> items);

class Expansion {
 public:
  using ValueId = graph::ValueId;
  using DType = graph::DType;

  Expansion(graph::Graph& graph, graph::Node node, int opset);

  graph::Graph& graph;
  /// The version of the default domain.
  const int opset;

  const std::string& name() const { return node_.name; }

  // The inputs and attributes of the node. Throws bad input if an input is absent or an attribute has the
  // wrong type.
  ValueId in(size_t i);
  /// kNoValue if it is absent.
  ValueId maybe_in(size_t i);
  bool has_in(size_t i) const { return node_.has_input(i); }
  size_t input_count() const { return node_.inputs.size(); }
  bool has_attribute(std::string_view name) const { return node_.attributes.has(name); }
  int64_t integer(std::string_view name, int64_t fallback);
  float real(std::string_view name, float fallback);
  std::string text(std::string_view name, std::string fallback);
  std::vector<int64_t> integers(std::string_view name);
  std::vector<float> reals(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  /// A number from 1 to INT32_MAX; bad input without it.
  int64_t count(std::string_view name);
  /// Accepts an attribute that does not affect the result.
  void ignore(std::string_view name) { read_attributes_.insert(std::string(name)); }
  /// The attributes not read so far, for the operator that replaces the node.
  graph::Attributes other_attributes();
  bool wants(size_t output) const { return node_.has_output(output); }

  // Types; bad input if the type or the rank is not known.
  DType dtype(ValueId id) const;
  const graph::Dims& dims(ValueId id) const;
  int64_t rank(ValueId id) const { return static_cast<int64_t>(dims(id).size()); }
  /// Throws bad input that names `what` if the value has another rank.
  void require_rank(ValueId id, int64_t rank, std::string_view what) const;

  // Nodes.
  ValueId op(std::string op, std::vector<ValueId> inputs, graph::Attributes attributes = {});
  std::vector<ValueId> ops(std::string op, std::vector<ValueId> inputs, size_t outputs,
                           graph::Attributes attributes = {});
  ValueId constant(graph::Tensor tensor);
  ValueId ints(const std::vector<int64_t>& values);
  /// A constant scalar of this element type.
  ValueId number(double value, DType dtype);
  ValueId number_like(double value, ValueId like) { return number(value, dtype(like)); }
  /// Returns the value itself if it already has the type.
  ValueId cast(ValueId x, DType to);
  ValueId transpose(ValueId x, std::vector<int64_t> perm);
  /// Reshape itself determines dimensions that keep their position, and at most one unknown dimension.
  ValueId reshape(ValueId x, const std::vector<Extent>& shape);
  ValueId unsqueeze(ValueId x, const std::vector<int64_t>& axes);
  ValueId concat(std::vector<ValueId> parts, int64_t axis);
  /// x[begin, end) along the axis.
  ValueId slice(ValueId x, int64_t axis, const Extent& begin, const Extent& end);
  /// Splits the value into equal parts along the axis, or into parts of these lengths.
  std::vector<ValueId> split(ValueId x, int64_t axis, size_t parts);
  std::vector<ValueId> split(ValueId x, int64_t axis, const std::vector<int64_t>& lengths);

  // Dimensions.
  Extent extent(ValueId x, int64_t axis);
  Extent add(const Extent& a, const Extent& b) { return combine("Add", a, b); }
  Extent sub(const Extent& a, const Extent& b) { return combine("Sub", a, b); }
  Extent mul(const Extent& a, const Extent& b) { return combine("Mul", a, b); }
  Extent div(const Extent& a, const Extent& b) { return combine("Div", a, b); }
  /// An int64 value of one element.
  ValueId vector(const Extent& extent);
  /// True if it is certain that the extent equals dimension `axis` of x.
  bool is_dimension(const Extent& extent, ValueId x, size_t axis) const;
  /// An int64 value with these elements.
  ValueId list(const std::vector<Extent>& extents);
  /// [0, 1, …, count - 1] as int64.
  ValueId positions(const Extent& count);

  /// Sets an output of the node to this value.
  void give(size_t output, ValueId value) { given_[output] = value; }
  /// Connects the outputs. Throws bad input if the node has an attribute or an input that the rule did not
  /// read, or an output that it did not set.
  void finish();

 private:
  template <class T>
  T attribute(std::string_view name, T fallback);
  Extent combine(const char* op, const Extent& a, const Extent& b);
  void connect(ValueId from, ValueId to);

  graph::Node node_;
  const size_t first_;  ///< index of the first node added here
  std::set<std::string> read_attributes_;
  std::set<size_t> read_inputs_;
  std::map<size_t, ValueId> given_;
};

/// The expansion of one operator, for files whose default opset is at least `since`.
struct ExpansionRule {
  std::string_view domain;
  std::string_view op;
  int since;
  void (*apply)(Expansion&);
};

inline constexpr std::string_view kMicrosoft = "com.microsoft";
/// An attribute that the reader adds to a node if each element of its table holds one number, although the
/// table's type has fewer bits than a byte.
inline constexpr const char* kOneNumberEach = "hone.one_number_each";
inline constexpr std::string_view kMachineLearning = "ai.onnx.ml";

/// Null if there is none.
const ExpansionRule* find_expansion(std::string_view domain, std::string_view op, int opset);
/// The part of docs/OPERATORS.md about expanded operators: their names by domain.
std::string expansions_markdown();

/// Adds the subgraph that replaces the node.
void expand_node(graph::Graph& graph, graph::Node node, int opset, const ExpansionRule& rule);

}  // namespace hone::importer
