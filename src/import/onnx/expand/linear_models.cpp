// Linear models and feature preprocessing of ai.onnx.ml.
#include <cmath>

#include "import/onnx/expand/rules.hpp"
#include "import/onnx/expand/scores.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Tensor;
using graph::ValueId;

ValueId row(Expansion& e, const std::vector<float>& values) {
  return e.constant(Tensor::of<float>(values, {static_cast<int64_t>(values.size())}));
}

/// (x - offset) · scale
void scaler(Expansion& e) {
  ValueId x = as_float(e, e.in(0));
  if (e.has_attribute("offset")) x = e.op("Sub", {x, row(e, e.reals("offset"))});
  if (e.has_attribute("scale")) x = e.op("Mul", {x, row(e, e.reals("scale"))});
  e.give(0, x);
}

/// Divides rows by their largest element, the sum of magnitudes, or their length.
void normalizer(Expansion& e) {
  const auto norm = e.text("norm", "MAX");
  const ValueId x = as_float(e, e.in(0));
  const char* op = norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : "ReduceL2";
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    fail_bad_input("attribute 'norm' is '{}', expected MAX, L1 or L2", norm.substr(0, 200));
  const ValueId size = e.op(op, {x, e.ints({-1})});
  const ValueId empty = e.op("Equal", {size, e.number(0, DType::kFloat32)});
  e.give(0, e.op("Where", {empty, x, e.op("Div", {x, size})}));
}

void binarizer(Expansion& e) {
  const ValueId x = e.in(0);
  const ValueId threshold = e.number_like(e.real("threshold", 0), x);
  e.give(0, e.cast(e.op("Greater", {x, threshold}), e.dtype(x)));
}

/// Replaces elements that are NaN, or equal to a given number, with the values of a row.
void imputer(Expansion& e) {
  const ValueId x = e.in(0);
  if (tensor::is_floating(e.dtype(x))) {
    const float replaced = e.real("replaced_value_float", 0);
    const ValueId missing =
        std::isnan(replaced) ? e.op("IsNaN", {x}) : e.op("Equal", {x, e.number_like(replaced, x)});
    return e.give(0,
                  e.op("Where", {missing, e.cast(row(e, e.reals("imputed_value_floats")), e.dtype(x)), x}));
  }
  const auto values = e.integers("imputed_value_int64s");
  const ValueId missing =
      e.op("Equal", {x, e.constant(Tensor::scalar<int64_t>(e.integer("replaced_value_int64", 0)))});
  e.give(0, e.op("Where", {missing, e.ints(values), x}));
}

/// x · coefficientsᵀ + intercepts, [rows, outputs].
ValueId linear_scores(Expansion& e, int64_t outputs) {
  const auto weights = e.reals("coefficients");
  const auto count = static_cast<int64_t>(weights.size());
  if (outputs < 1 || count == 0 || count % outputs != 0)
    fail_bad_input("attribute 'coefficients' has {} elements for {} outputs", count, outputs);
  const ValueId x = as_float(e, e.in(0));
  const ValueId rows = e.rank(x) == 1 ? e.unsqueeze(x, {0}) : x;
  const ValueId matrix = e.constant(Tensor::of<float>(weights, {outputs, count / outputs}));
  const ValueId product = e.op("MatMul", {rows, e.transpose(matrix, {1, 0})});
  const auto intercepts = e.reals("intercepts");
  return intercepts.empty() ? product : e.op("Add", {product, row(e, intercepts)});
}

void linear_regressor(Expansion& e) {
  e.give(0, post_transform(e, linear_scores(e, e.integer("targets", 1))));
}

void linear_classifier(Expansion& e) {
  e.ignore("multi_class");
  const Labels labels = read_labels(e, "classlabels_ints", "classlabels_strings");
  const auto intercepts = static_cast<int64_t>(e.reals("intercepts").size());
  const auto outputs = intercepts > 0 ? intercepts : static_cast<int64_t>(labels.count);
  const ValueId scores = linear_scores(e, outputs);
  if (outputs > 1 || labels.count != 2) return give_classes(e, labels, scores);
  give_two_classes(e, labels, scores, 0, true);
}

/// Gathers elements of the last axis by index.
void array_feature_extractor(Expansion& e) {
  const ValueId x = e.in(0);
  const ValueId index = e.op("Reshape", {e.in(1), e.ints({-1})});
  const ValueId rows = e.rank(x) == 1 ? e.unsqueeze(x, {0}) : x;
  e.give(0, e.op("Gather", {rows, index}, attributes({{"axis", e.rank(rows) - 1}})));
}

void feature_vectorizer(Expansion& e) {
  e.ignore("inputdimensions");
  std::vector<ValueId> parts;
  for (size_t i = 0; i < e.input_count(); ++i) parts.push_back(as_float(e, e.in(i)));
  e.give(0, e.concat(parts, 1));
}

/// One column for each category.
void one_hot_encoder(Expansion& e) {
  if (e.has_attribute("cats_strings"))
    fail_bad_input("attribute 'cats_strings' needs strings, which are not supported");
  if (e.integer("zeros", 1) == 0) fail_bad_input("attribute 'zeros' is 0, which is not supported");
  const ValueId x = e.cast(e.in(0), DType::kInt64);
  const ValueId equal = e.op("Equal", {e.unsqueeze(x, {-1}), e.ints(e.integers("cats_int64s"))});
  e.give(0, as_float(e, equal));
}

constexpr ExpansionRule kRules[] = {
    {kMachineLearning, "ArrayFeatureExtractor", 0, array_feature_extractor},
    {kMachineLearning, "Binarizer", 0, binarizer},
    {kMachineLearning, "FeatureVectorizer", 0, feature_vectorizer},
    {kMachineLearning, "Imputer", 0, imputer},
    {kMachineLearning, "LinearClassifier", 0, linear_classifier},
    {kMachineLearning, "LinearRegressor", 0, linear_regressor},
    {kMachineLearning, "Normalizer", 0, normalizer},
    {kMachineLearning, "OneHotEncoder", 0, one_hot_encoder},
    {kMachineLearning, "Scaler", 0, scaler},
};

}  // namespace

std::span<const ExpansionRule> linear_model_expansions() { return kRules; }

}  // namespace hone::importer
