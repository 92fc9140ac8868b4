// Reductions, the Softmax family, TopK and DFT.
#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

void axes_to_input(Rewrite& r) { r.attribute_to_input("axes", 1); }

void k_to_input(Rewrite& r) { r.attribute_to_input("k", 1); }

/// Opset 17 has the axis as an attribute, 1 by default; opset 20 as an input.
void dft_axis_to_input(Rewrite& r) {
  const auto axis = r.attribute<int64_t>("axis", 1);
  r.set_input(2, r.constant("axis", graph::Tensor::scalar<int64_t>(axis)));
  r.node.attributes.erase("axis");
}

/// Before opset 13 the input was flattened to two dimensions at `axis` (1 by default), and the operator
/// worked on rows. If the axis is the last one, the new form is equivalent.
void rows_from_axis(Rewrite& r) {
  const auto axis = r.attribute<int64_t>("axis", 1);
  r.node.attributes.set("axis", int64_t{-1});
  const graph::Dims* dims = r.dims(0);
  const bool last = dims != nullptr && (axis == -1 || axis + 1 == static_cast<int64_t>(dims->size()));
  if (last) return;
  const graph::ValueId input = r.node.input(0);
  const graph::ValueId shape = r.before("Shape", {input});
  graph::Attributes flatten;
  flatten.set("axis", axis);
  r.set_input(0, r.before("Flatten", {input}, std::move(flatten)));
  r.after(0, "Reshape", {shape});
}

constexpr AdaptRule kRules[] = {
    {"ReduceL1", 18, axes_to_input},     {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input}, {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},    {"ReduceSumSquare", 18, axes_to_input},
    {"Softmax", 13, rows_from_axis},     {"LogSoftmax", 13, rows_from_axis},
    {"Hardmax", 13, rows_from_axis},     {"TopK", 10, k_to_input},
    {"DFT", 20, dft_axis_to_input},
};

}  // namespace

std::span<const AdaptRule> reduction_rules() { return kRules; }

}  // namespace hone::importer
