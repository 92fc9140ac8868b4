// Operators whose attributes became inputs.
#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

void axes_to_input(Rewrite& r) { r.attribute_to_input("axes", 1); }

void split_sizes_to_input(Rewrite& r) { r.attribute_to_input("split", 1); }

/// Before opset 18, a Split without sizes made one equal part for each output.
void split_into_outputs(Rewrite& r) {
  if (r.node.has_input(1)) return;
  r.node.attributes.set("num_outputs", static_cast<int64_t>(r.node.outputs.size()));
}

void slice_to_inputs(Rewrite& r) {
  r.attribute_to_input("starts", 1);
  r.attribute_to_input("ends", 2);
  r.attribute_to_input("axes", 3);
}

void pad_to_inputs(Rewrite& r) {
  r.attribute_to_input("pads", 1);
  const float value = r.attribute<float>("value", 0.0f);
  r.set_input(2, r.constant("value", graph::Tensor::scalar<float>(value).cast(r.dtype(0))));
  r.node.attributes.erase("value");
}

void rename_scatter(Rewrite& r) { r.node.op = "ScatterElements"; }

constexpr AdaptRule kRules[] = {
    {"Squeeze", 13, axes_to_input},    {"Unsqueeze", 13, axes_to_input}, {"Split", 13, split_sizes_to_input},
    {"Split", 18, split_into_outputs}, {"Slice", 10, slice_to_inputs},   {"Pad", 11, pad_to_inputs},
    {"Scatter", 11, rename_scatter},
};

}  // namespace

std::span<const AdaptRule> shape_rules() { return kRules; }

}  // namespace hone::importer
