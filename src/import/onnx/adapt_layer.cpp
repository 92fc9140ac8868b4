// Normalizations, Dropout and Clip.
#include "import/onnx/adapt.hpp"

#include <limits>

namespace hone::importer {
namespace {

using graph::Attributes;
using graph::DType;
using graph::Tensor;
using graph::ValueId;

ValueId scalar_like_input(Rewrite& r, std::string_view stem, float value) {
  return r.constant(stem, Tensor::scalar<float>(value).cast(r.dtype(0)));
}

void clip_to_inputs(Rewrite& r) {
  constexpr float kLimit = std::numeric_limits<float>::max();
  const auto low = r.attribute<float>("min", -kLimit);
  const auto high = r.attribute<float>("max", kLimit);
  r.set_input(1, scalar_like_input(r, "min", low));
  r.set_input(2, scalar_like_input(r, "max", high));
  r.node.attributes.erase("min");
  r.node.attributes.erase("max");
}

/// Before opset 12 Dropout never dropped anything at inference, so the ratio has no effect.
void dropout_ratio(Rewrite& r) { r.node.attributes.erase("ratio"); }

/// Before opset 10 the mask had the type of the data.
void dropout_mask(Rewrite& r) {
  if (!r.node.has_output(1)) return;
  Attributes cast;
  cast.set("to", static_cast<int64_t>(r.dtype(0)));
  r.after(1, "Cast", {}, std::move(cast));
}

/// Opset 8 allowed a mean, a variance, a scale and a bias for each element of an image.
void normalize_elements(Rewrite& r) {
  const ValueId epsilon = scalar_like_input(r, "epsilon", r.attribute<float>("epsilon", 1e-5f));
  const ValueId deviation = r.before("Sqrt", {r.before("Add", {r.node.input(4), epsilon})});
  const ValueId centred = r.before("Sub", {r.node.input(0), r.node.input(3)});
  const ValueId scaled = r.before("Mul", {r.before("Div", {centred, deviation}), r.node.input(1)});
  r.node.op = "Add";
  r.node.inputs = {scaled, r.node.input(2)};
  r.node.attributes = {};
}

void inference_normalization(Rewrite& r) {
  const bool per_channel = r.attribute<int64_t>("spatial", 1) != 0;
  r.node.attributes.erase("spatial");
  for (size_t i = 1; i < r.node.outputs.size(); ++i) {
    if (r.node.has_output(i)) fail_bad_input("output {} asks for training mode, which is not supported", i);
  }
  r.node.outputs.resize(1);
  if (!per_channel && r.node.inputs.size() == 5) normalize_elements(r);
}

/// Expands a scale or bias with one value for each group to one value for each channel.
ValueId per_channel(Rewrite& r, size_t input, int64_t groups, int64_t channels) {
  const ValueId column = r.before("Reshape", {r.node.input(input), r.ints("column", {groups, 1})});
  const ValueId wide = r.before("Expand", {column, r.ints("wide", {groups, channels / groups})});
  return r.before("Reshape", {wide, r.ints("flat", {channels})});
}

void group_normalization_per_channel(Rewrite& r) {
  const auto groups = r.attribute<int64_t>("num_groups", 0);
  const graph::Dims* dims = r.dims(0);
  if (dims == nullptr || dims->size() < 2 || !(*dims)[1].known()) {
    fail_bad_input("input 0 needs a known number of channels in opset {}", r.opset);
  }
  const int64_t channels = (*dims)[1].value();
  if (groups < 1 || channels % groups != 0) {
    fail_bad_input("attribute 'num_groups' is {}, which does not divide {} channels", groups, channels);
  }
  r.set_input(1, per_channel(r, 1, groups, channels));
  r.set_input(2, per_channel(r, 2, groups, channels));
}

constexpr AdaptRule kRules[] = {
    {"Clip", 11, clip_to_inputs},
    {"Dropout", 12, dropout_ratio},
    {"Dropout", 10, dropout_mask},
    {"BatchNormalization", 14, inference_normalization},
    {"GroupNormalization", 21, group_normalization_per_channel},
};

}  // namespace

std::span<const AdaptRule> layer_rules() { return kRules; }

}  // namespace hone::importer
