// Operators of com.microsoft that the standard also has, under the same or another name.
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::ValueId;

std::vector<ValueId> all_inputs(Expansion& e) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < e.input_count(); ++i) inputs.push_back(e.maybe_in(i));
  return inputs;
}

void give_same(Expansion& e, const char* op) { e.give(0, e.op(op, all_inputs(e), e.other_attributes())); }

void trilu(Expansion& e) { give_same(e, "Trilu"); }
void pad(Expansion& e) { give_same(e, "Pad"); }
void gather_nd(Expansion& e) { give_same(e, "GatherND"); }
void quantize(Expansion& e) { give_same(e, "QuantizeLinear"); }
void dequantize(Expansion& e) { give_same(e, "DequantizeLinear"); }

void grid_sample(Expansion& e) {
  const auto mode = e.text("mode", "bilinear");
  auto attributes = e.other_attributes();
  attributes.set("mode", std::string(mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode));
  e.give(0, e.op("GridSample", all_inputs(e), attributes));
}

void expand_dims(Expansion& e) {
  e.give(0, e.op("Unsqueeze", {e.in(0), e.op("Reshape", {e.in(1), e.ints({1})})}));
}

/// Expands softmax(data + bias) over all axes from `axis` on.
void bias_softmax(Expansion& e) {
  const int64_t axis = e.integer("axis", 1);
  const bool inner = e.integer("is_inner_broadcast", 1) != 0;
  const ValueId data = e.in(0);
  if (!inner && e.rank(data) != e.rank(e.in(1)))
    fail_bad_input("attribute 'is_inner_broadcast' is 0, which is not supported");
  const ValueId sum = e.op("Add", {data, e.in(1)});
  std::vector<Extent> shape;
  for (int64_t i = 0; i < e.rank(sum); ++i) shape.push_back(e.extent(sum, i));
  const auto last_axis = attributes({{"axis", int64_t{-1}}});
  if (axis == -1 || axis == e.rank(sum) - 1) return e.give(0, e.op("Softmax", {sum}, last_axis));
  const ValueId rows = e.op("Flatten", {sum}, attributes({{"axis", axis}}));
  e.give(0, e.reshape(e.op("Softmax", {rows}, last_axis), shape));
}

/// Dropout does nothing at inference.
void bias_dropout(Expansion& e) {
  ValueId y = e.op("Add", {e.in(0), e.in(1)});
  if (e.has_in(2)) y = e.op("Add", {y, e.in(2)});
  e.maybe_in(3);
  e.ignore("seed");
  e.give(0, y);
}

/// Normalizes channels-last images; `activation` 1 is Swish.
void group_norm(Expansion& e) {
  const ValueId x = e.in(0);
  e.require_rank(x, 4, "input 0");
  const bool last = e.integer("channels_last", 1) != 0;
  const auto options = attributes({{"num_groups", e.count("groups")}, {"epsilon", e.real("epsilon", 1e-5f)}});
  const DType dtype = e.dtype(x);
  const ValueId image = last ? e.transpose(x, {0, 3, 1, 2}) : x;
  ValueId y = e.op("GroupNormalization", {image, e.cast(e.in(1), dtype), e.cast(e.in(2), dtype)}, options);
  if (e.integer("activation", 0) != 0) y = e.op("Mul", {y, e.op("Sigmoid", {y})});
  e.give(0, last ? e.transpose(y, {0, 2, 3, 1}) : y);
}

constexpr ExpansionRule kRules[] = {
    {kMicrosoft, "Trilu", 0, trilu},
    {kMicrosoft, "Pad", 0, pad},
    {kMicrosoft, "GatherND", 0, gather_nd},
    {kMicrosoft, "QuantizeLinear", 0, quantize},
    {kMicrosoft, "DequantizeLinear", 0, dequantize},
    {kMicrosoft, "GridSample", 0, grid_sample},
    {kMicrosoft, "ExpandDims", 0, expand_dims},
    {kMicrosoft, "BiasSoftmax", 0, bias_softmax},
    {kMicrosoft, "BiasDropout", 0, bias_dropout},
    {kMicrosoft, "GroupNorm", 0, group_norm},
};

}  // namespace

std::span<const ExpansionRule> twin_expansions() { return kRules; }

}  // namespace hone::importer
