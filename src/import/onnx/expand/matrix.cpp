// Inverse and CDist of com.microsoft.
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::ValueId;

/// The largest sum of magnitudes along the axis, [..., 1, 1].
ValueId norm(Expansion& e, ValueId x, int64_t summed, int64_t compared) {
  const ValueId sums = e.op("ReduceSum", {e.op("Abs", {x}), e.ints({summed})});
  return e.op("ReduceMax", {sums, e.ints({compared})});
}

/// The body of a Loop that computes x + x · (1 - a · x). Its inputs are the counter, the condition, x, and
/// the captured values of the outer graph.
std::shared_ptr<graph::Graph> newton_step(const graph::TensorType& matrix, const graph::TensorType& unit) {
  auto body = std::make_shared<graph::Graph>();
  body->name = "newton_step";
  const ValueId counter = body->add_value("counter", {DType::kInt64, graph::Dims{}});
  const ValueId condition = body->add_value("condition", {DType::kBool, graph::Dims{}});
  const ValueId x = body->add_value("x", matrix);
  const ValueId a = body->add_value("a", matrix);
  const ValueId one = body->add_value("one", unit);
  body->inputs = {counter, condition, x, a, one};
  const auto add = [&](const char* name, const char* op, std::vector<ValueId> inputs) {
    const ValueId output = body->add_value(name);
    body->add_node({.name = name, .op = op, .inputs = std::move(inputs), .outputs = {output}});
    return output;
  };
  const ValueId error = add("error", "Sub", {one, add("product", "MatMul", {a, x})});
  const ValueId next = add("next", "Add", {x, add("correction", "MatMul", {x, error})});
  body->outputs = {add("again", "Identity", {condition}), next};
  return body;
}

/// Uses Newton's iteration, which doubles the correct digits in each step and starts with the transposed
/// matrix divided by the product of two norms. In double precision, 64 steps suffice for condition numbers up
/// to 1e8. Source: V. Pan and R. Schreiber, "An improved Newton iteration for the generalized inverse of a
/// matrix".
void inverse(Expansion& e) {
  constexpr int64_t kSteps = 64;
  const ValueId x = e.in(0);
  const int64_t rank = e.rank(x);
  if (rank < 2) fail_bad_input("input 0 has rank {}, expected 2 or more", rank);
  const ValueId a = e.cast(x, DType::kFloat64);
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i < rank - 2 ? i : 2 * rank - 3 - i);
  const ValueId scale = e.op("Mul", {norm(e, a, -1, -2), norm(e, a, -2, -1)});
  const ValueId start = e.op("Div", {e.transpose(a, perm), scale});
  const Extent size = e.extent(x, -1);
  const ValueId zeros = e.op("Expand", {e.number(0, DType::kFloat64), e.list({size, size})});
  const ValueId one = e.op("EyeLike", {zeros});
  const auto body = newton_step(e.graph.value(a).type, e.graph.value(one).type);
  const auto loop = attributes({{"body", body}, {"num_captures", int64_t{2}}});
  const ValueId steps = e.number(kSteps, DType::kInt64);
  const ValueId result = e.op("Loop", {steps, e.number(1, DType::kBool), start, a, one}, loop);
  e.give(0, e.cast(result, e.dtype(x)));
}

/// Distances between the rows of two matrices.
void distances(Expansion& e) {
  const auto metric = e.text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    fail_bad_input("attribute 'metric' is '{}', expected euclidean or sqeuclidean", metric.substr(0, 200));
  const ValueId difference = e.op("Sub", {e.unsqueeze(e.in(0), {1}), e.unsqueeze(e.in(1), {0})});
  const ValueId squares = e.op("Mul", {difference, difference});
  const ValueId sums = e.op("ReduceSum", {squares, e.ints({2})}, attributes({{"keepdims", int64_t{0}}}));
  e.give(0, metric == "euclidean" ? e.op("Sqrt", {sums}) : sums);
}

constexpr ExpansionRule kRules[] = {{kMicrosoft, "Inverse", 0, inverse}, {kMicrosoft, "CDist", 0, distances}};

}  // namespace

std::span<const ExpansionRule> matrix_expansions() { return kRules; }

}  // namespace hone::importer
