// One entry of the operator table, which describes an operator to importers, checker, passes, the cost model
// and the documentation. Semantics are those of ONNX opset 22; operators of our own, made by passes, are
// Region (region.hpp) and fused forms, whose names start with "Fused".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kGraph };

struct AttributeDef {
  std::string name;
  AttributeKind kind;
  bool required = false;
  /// Filled in if the node lacks the attribute; empty for attributes whose absence has a meaning.
  std::optional<Attribute> fallback;
};

/// Gives a type and shape rule access to one node, and takes its result.
class InferenceContext {
 public:
  InferenceContext(const Graph& graph, const Node& node);

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  bool has_input(size_t i) const { return node_.has_input(i); }
  size_t input_count() const { return node_.inputs.size(); }
  size_t output_count() const { return node_.outputs.size(); }
  /// Type of input i; an undefined type without a rank if the input is absent.
  const TensorType& input(size_t i) const;
  DType dtype(size_t i) const { return input(i).dtype; }
  bool ranked(size_t i) const { return input(i).ranked(); }
  /// Dimensions of input i; throws an internal error unless ranked(i).
  const Dims& dims(size_t i) const;
  int64_t rank(size_t i) const { return static_cast<int64_t>(dims(i).size()); }
  /// Null unless the input is constant.
  const Tensor* constant(size_t i) const { return graph_.constant(node_.input(i)); }
  /// Integers of a constant or of a value that shape inference follows; elements may be symbols.
  std::optional<Dims> data(size_t i) const;
  /// data(i) if every element is a number.
  std::optional<std::vector<int64_t>> known_data(size_t i) const;

  void set_output(size_t i, DType dtype, std::optional<Dims> dims);
  void set_output_data(size_t i, Dims data);

  /// Throws bad input: "node 'x' (Op): <sentence>".
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(ErrorKind::kBadInput, fmt::format(format, std::forward<Args>(args)...), node_.text());
  }
  template <class... Args>
  void require(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(format, std::forward<Args>(args)...);
  }
  void require_rank(size_t i, int64_t minimum, int64_t maximum) const;
  int64_t axis(std::string_view attribute, int64_t rank) const;

  struct Output {
    TensorType type;
    std::optional<Dims> data;
  };
  std::vector<Output>& results() { return outputs_; }

 private:
  const Graph& graph_;
  const Node& node_;
  std::vector<Output> outputs_;
};

/// The work of one execution. A multiply-add counts as two operations.
struct Cost {
  double flops = 0;
  double bytes = 0;  ///< inputs read once and outputs written once
};

/// The kind of product that an operator computes: rows of matrices by columns, or windows of images by
/// filters.
enum class Product { kNone, kMatrices, kConvolution };

/// Properties of an operator, so that other code does not need to know it by name.
struct Traits {
  /// Output 0 has the bytes of input 0, under the same or another shape.
  bool view = false;
  /// An output element depends only on the elements at its (broadcast) position in the inputs.
  bool elementwise = false;
  /// Output elements are copies of input elements.
  bool moves_only = false;
  /// Two executions may give different results.
  bool random = false;
  /// No output element is below 0.
  bool non_negative = false;
  /// Elements of output 0 are between the smallest and the largest element of input 0.
  bool keeps_range = false;
  /// A small difference in an input may become a large difference in the output.
  bool discontinuous = false;
  /// A small relative difference in a large input may become a large difference in the output, since the
  /// function is periodic.
  bool periodic = false;
  /// Output 0 has the elements of input 0, converted to another type.
  bool converts = false;
  /// A positive factor on a channel (axis 1) of input 0 is the same factor on that channel of output 0.
  bool scales_with_input = false;
  /// A function of one number that is used after layers.
  bool activation = false;
  /// The product, with its post-ops if there are any.
  Product product = Product::kNone;
  /// Elements of the output are sums of many products, whether or not `product` says so.
  bool sums_products = false;
  /// Produces or reads integers that represent numbers with the help of a scale.
  bool quantization = false;
  /// Inputs from this index on give the positions at which input 0 is read, also between its elements; 0:
  /// there are none.
  size_t first_place_input = 0;
  /// Input 1 holds indices along the attribute `axis` of input 0.
  bool indexes_axis = false;
};

struct OperatorDef {
  std::string name;
  /// ONNX opset that introduced this form (the form of opset 22); 0 for hone's own operators.
  int since_version = 1;
  int min_inputs = 0;
  /// kVariadic means any number.
  int max_inputs = 0;
  int min_outputs = 1;
  int max_outputs = 1;
  std::vector<AttributeDef> attributes;
  std::function<void(InferenceContext&)> infer;
  /// Floating-point operations for the types of the node (all known); if empty, one per output element.
  std::function<double(const Graph&, const Node&)> flops;
  Traits traits;
  /// Called if the first dimension of every input and of output 0, which has this rank, is the batch. Returns
  /// whether entry n of output 0 depends only on entry n of the inputs. If null, this holds for elementwise
  /// operators and no others.
  bool (*keeps_batch)(const Graph&, const Node&, int64_t rank) = nullptr;

  static constexpr int kVariadic = 1 << 20;
  const AttributeDef* find_attribute(std::string_view attribute) const;
};

/// The entry, or null.
const OperatorDef* find_operator(std::string_view name);
/// Every entry, sorted by name.
const std::vector<OperatorDef>& operator_table();
/// The traits of the node's operator; default traits for an unknown operator.
const Traits& traits_of(const Node& node);
/// OperatorDef::keeps_batch of the node's operator, if no variable is broadcast with its batch.
bool keeps_batch(const Graph& graph, const Node& node, int64_t rank);
/// True if an attribute of the node holds a graph (If, Loop, Scan, Region).
bool has_body(const Node& node);
/// A view whose output can have another rank than its input.
inline bool changes_shape_only(const Node& node) {
  return traits_of(node).view && !traits_of(node).elementwise;
}
/// Checks arity and attributes of a node against its entry and fills in defaults; throws bad input that names
/// node and field.
void complete_node(Node& node);
/// FLOPs and bytes of a node whose types are all known; nullopt otherwise.
std::optional<Cost> node_cost(const Graph& graph, const Node& node);

}  // namespace hone::graph
