// Forms from before opset 7: explicit broadcasting, training flags, and reuse of memory.
#include <algorithm>
#include <array>
#include <utility>

#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

using graph::ValueId;

/// Adds axes of length 1 after those of an input.
void add_axes(Rewrite& r, size_t input, int64_t rank, int64_t count) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(rank + i);
  r.set_input(input, r.before("Unsqueeze", {r.node.input(input), r.ints("axes", axes)}));
}

/// The axes of the second operand were aligned with those of the first from `axis` on. Without the attribute,
/// they were aligned with the last axes, as today.
void broadcast_from_axis(Rewrite& r) {
  const bool broadcasts = r.attribute<int64_t>("broadcast", 0) != 0;
  const bool has_axis = r.node.attributes.has("axis");
  int64_t axis = r.attribute<int64_t>("axis", 0);
  r.node.attributes.erase("broadcast");
  r.node.attributes.erase("axis");
  if (!broadcasts || !has_axis) return;
  const graph::Dims* const a = r.dims(0);
  const graph::Dims* const b = r.dims(1);
  if (a == nullptr || b == nullptr) fail_bad_input("attribute 'axis' needs operands of known rank");
  const auto rank = static_cast<int64_t>(a->size());
  const auto own = static_cast<int64_t>(b->size());
  if (axis < 0) axis += rank;
  const int64_t behind = rank - axis - own;
  if (axis < 0 || behind < 0)
    fail_bad_input("attribute 'axis' is {}, which has no room for {} axes in {}", axis, own, rank);
  if (behind > 0) add_axes(r, 1, own, behind);
}

/// A slope with one number for each channel had only one axis.
void slope_per_channel(Rewrite& r) {
  const graph::Dims* const x = r.dims(0);
  const graph::Dims* const slope = r.dims(1);
  if (x == nullptr || slope == nullptr) fail_bad_input("operands of known rank are needed");
  if (slope->size() == 1 && !slope->front().is(1) && x->size() > 2)
    add_axes(r, 1, 1, static_cast<int64_t>(x->size()) - 2);
}

void without_training(Rewrite& r) { r.node.attributes.erase("is_test"); }

void without_broadcast(Rewrite& r) { r.node.attributes.erase("broadcast"); }

void without_output_sequence(Rewrite& r) { r.node.attributes.erase("output_sequence"); }

void shape_to_input(Rewrite& r) { r.attribute_to_input("shape", 1); }

void concatenate_channels(Rewrite& r) {
  if (!r.node.attributes.has("axis")) r.node.attributes.set("axis", int64_t{1});
}

void rename_paddings(Rewrite& r) {
  if (const graph::Attribute* const value = r.node.attributes.find("paddings")) {
    r.node.attributes.set("pads", graph::Attribute(*value));
    r.node.attributes.erase("paddings");
  }
}

/// Types were given by name instead of number.
void type_by_number(Rewrite& r) {
  static constexpr std::array<std::pair<std::string_view, graph::DType>, 13> kTypes = {
      {{"FLOAT", graph::DType::kFloat32},
       {"UINT8", graph::DType::kUInt8},
       {"INT8", graph::DType::kInt8},
       {"UINT16", graph::DType::kUInt16},
       {"INT16", graph::DType::kInt16},
       {"INT32", graph::DType::kInt32},
       {"INT64", graph::DType::kInt64},
       {"BOOL", graph::DType::kBool},
       {"FLOAT16", graph::DType::kFloat16},
       {"DOUBLE", graph::DType::kFloat64},
       {"UINT32", graph::DType::kUInt32},
       {"UINT64", graph::DType::kUInt64},
       {"BFLOAT16", graph::DType::kBFloat16}}};
  const auto name = r.attribute<std::string>("to", "");
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == name; });
  if (found == kTypes.end()) fail_bad_input("attribute 'to' is '{}', which is no element type", name);
  r.node.attributes.set("to", static_cast<int64_t>(found->second));
}

constexpr AdaptRule kRules[] = {
    {"Add", 7, broadcast_from_axis},
    {"Sub", 7, broadcast_from_axis},
    {"Mul", 7, broadcast_from_axis},
    {"Div", 7, broadcast_from_axis},
    {"Pow", 7, broadcast_from_axis},
    {"And", 7, broadcast_from_axis},
    {"Or", 7, broadcast_from_axis},
    {"Xor", 7, broadcast_from_axis},
    {"Equal", 7, broadcast_from_axis},
    {"Greater", 7, broadcast_from_axis},
    {"Less", 7, broadcast_from_axis},
    {"PRelu", 7, slope_per_channel},
    {"BatchNormalization", 7, without_training},
    {"Dropout", 7, without_training},
    {"Gemm", 7, without_broadcast},
    {"LSTM", 7, without_output_sequence},
    {"GRU", 7, without_output_sequence},
    {"RNN", 7, without_output_sequence},
    {"Reshape", 5, shape_to_input},
    {"Concat", 4, concatenate_channels},
    {"Pad", 2, rename_paddings},
    {"Cast", 6, type_by_number},
};

}  // namespace

std::span<const AdaptRule> first_rules() { return kRules; }

}  // namespace hone::importer
