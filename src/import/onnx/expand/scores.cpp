// See scores.hpp.
#include "import/onnx/expand/scores.hpp"

namespace hone::importer {

using graph::DType;
using graph::Tensor;
using graph::ValueId;

namespace {

ValueId zero(Expansion& e) { return e.number(0, DType::kFloat32); }

/// Softmax in which zeros stay zeros and are not part of the sum.
ValueId softmax_of_others(Expansion& e, ValueId scores) {
  const ValueId none = e.op("Equal", {scores, zero(e)});
  const ValueId largest = e.op("ReduceMax", {scores, e.ints({-1})});
  const ValueId weights = e.op("Exp", {e.op("Sub", {scores, largest})});
  const ValueId kept = e.op("Where", {none, zero(e), weights});
  return e.op("Div", {kept, e.op("ReduceSum", {kept, e.ints({-1})})});
}

/// Sets the label of each row from the index of its class.
void give_labels(Expansion& e, const Labels& labels, ValueId index) {
  if (!e.wants(0)) return e.give(0, index);
  const auto count = static_cast<int64_t>(labels.numbers.size());
  const ValueId table = e.constant(Tensor::of<int64_t>(labels.numbers, {count}));
  e.give(0, e.op("Gather", {table, index}, attributes({{"axis", int64_t{0}}})));
}

}  // namespace

ValueId as_float(Expansion& e, ValueId x) { return e.cast(x, DType::kFloat32); }

ValueId post_transform(Expansion& e, ValueId scores) {
  const auto transform = e.text("post_transform", "NONE");
  if (transform == "NONE" || e.extent(scores, 1).is(1)) return scores;
  if (transform == "LOGISTIC") return e.op("Sigmoid", {scores});
  if (transform == "SOFTMAX") return e.op("Softmax", {scores}, attributes({{"axis", int64_t{-1}}}));
  if (transform == "SOFTMAX_ZERO") return softmax_of_others(e, scores);
  fail_bad_input("attribute 'post_transform' is '{}', which is not supported", transform.substr(0, 200));
}

Labels read_labels(Expansion& e, const char* numbers, const char* strings) {
  const auto names = e.texts(strings);
  auto labels = e.integers(numbers);
  if (!names.empty() && e.wants(0))
    fail_bad_input("attribute '{}' makes strings of output 0, which are not supported", strings);
  const size_t count = names.empty() ? labels.size() : names.size();
  if (count == 0) fail_bad_input("attributes '{}' and '{}' are both missing", numbers, strings);
  return {std::move(labels), count};
}

void give_classes(Expansion& e, const Labels& labels, ValueId scores) {
  const auto last = attributes({{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}});
  give_labels(e, labels, e.op("ArgMax", {scores}, last));
  e.give(1, post_transform(e, scores));
}

void give_two_classes(Expansion& e, const Labels& labels, ValueId score, float border, bool rest_of_one) {
  const ValueId flat = e.op("Reshape", {score, e.ints({-1})});
  const ValueId second = e.op("Greater", {flat, e.number(border, DType::kFloat32)});
  give_labels(e, labels, e.cast(second, DType::kInt64));
  const auto transform = e.text("post_transform", "NONE");
  if (transform != "NONE" && transform != "LOGISTIC") {
    fail_bad_input("attribute 'post_transform' is '{}', which is not supported with one score of two classes",
                   transform.substr(0, 200));
  }
  const ValueId opposite = e.op("Neg", {score});
  if (transform == "LOGISTIC") return e.give(1, e.op("Sigmoid", {e.concat({opposite, score}, 1)}));
  const ValueId first = rest_of_one ? e.op("Add", {opposite, e.number(1, DType::kFloat32)}) : opposite;
  e.give(1, e.concat({first, score}, 1));
}

}  // namespace hone::importer
