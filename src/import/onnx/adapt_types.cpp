// Attributes of opset 23 and 24 that choose element types; the forms in the table use those of the inputs.
#include <climits>
#include <cmath>

#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

using graph::DType;

constexpr int kEveryOpset = INT_MAX;

graph::Attributes cast_to(DType dtype) {
  graph::Attributes attributes;
  attributes.set("to", static_cast<int64_t>(dtype));
  return attributes;
}

/// `round_mode` only affects rounding to float8e8m0, which is refused anyway.
void drop_round_mode(Rewrite& r) { r.node.attributes.erase("round_mode"); }

/// Throws bad input if a constant scale has a value that cannot be a factor or divisor.
void check_scale(const Rewrite& r) {
  const graph::ValueId id = r.node.input(1);
  const graph::Tensor* scale = id == graph::kNoValue ? nullptr : r.graph.constant(id);
  if (scale == nullptr || !tensor::is_floating(scale->dtype())) return;
  for (const double value : scale->to_double()) {
    if (value == 0 || !std::isfinite(value))
      fail_bad_input("the scale '{}' holds {}, which is no scale: quantize the model anew",
                     r.graph.value(id).name, value);
  }
}

/// The type in which x is divided by the scale, by default that of the scale.
void quantize_in_precision(Rewrite& r) {
  check_scale(r);
  const auto precision = static_cast<DType>(r.attribute<int64_t>("precision", 0));
  r.node.attributes.erase("precision");
  if (precision == DType::kUndefined) return;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (r.dtype(i) != precision) r.set_input(i, r.before("Cast", {r.node.input(i)}, cast_to(precision)));
  }
}

/// The type of the result, by default that of the scale.
void dequantize_to_type(Rewrite& r) {
  check_scale(r);
  const auto dtype = static_cast<DType>(r.attribute<int64_t>("output_dtype", 0));
  r.node.attributes.erase("output_dtype");
  if (dtype != DType::kUndefined && dtype != r.dtype(1)) r.after(0, "Cast", {}, cast_to(dtype));
}

constexpr AdaptRule kRules[] = {
    {"Cast", kEveryOpset, drop_round_mode},
    {"QuantizeLinear", kEveryOpset, quantize_in_precision},
    {"DequantizeLinear", kEveryOpset, dequantize_to_type},
};

}  // namespace

std::span<const AdaptRule> type_rules() { return kRules; }

}  // namespace hone::importer
