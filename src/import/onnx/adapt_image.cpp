// Resize and its predecessors, RoiAlign, GridSample.
#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

using graph::kNoValue;
using graph::ValueId;

/// Resize 10 and Upsample: output pixel x reads input pixel x / scale, and nearest rounds down.
void asymmetric_resize(Rewrite& r, ValueId scales) {
  r.node.op = "Resize";
  r.node.inputs.resize(1);
  r.set_input(2, scales);
  r.node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  r.node.attributes.set("nearest_mode", std::string("floor"));
}

void resize_10(Rewrite& r) {
  if (r.opset == 10) asymmetric_resize(r, r.node.input(1));
}

void upsample(Rewrite& r) {
  if (r.opset >= 9) return asymmetric_resize(r, r.node.input(1));
  const auto scales = r.attribute<std::vector<float>>("scales", {});
  const auto count = static_cast<int64_t>(scales.size());
  r.node.attributes.erase("scales");
  asymmetric_resize(r, r.constant("scales", graph::Tensor::of<float>(scales, {count})));
}

/// tf_half_pixel_for_nn (opset 11 and 12) reads (x + 0.5) / scale, half a pixel to the right of half_pixel.
/// So rounding it down is rounding half_pixel to nearest, and rounding it to nearest is rounding half_pixel
/// up.
void tensorflow_nearest(Rewrite& r) {
  constexpr const char* kCoordinates = "coordinate_transformation_mode";
  if (r.attribute<std::string>(kCoordinates, "half_pixel") != "tf_half_pixel_for_nn") return;
  const auto mode = r.attribute<std::string>("mode", "nearest");
  const auto rounding = r.attribute<std::string>("nearest_mode", "round_prefer_floor");
  if (mode != "nearest" || (rounding != "floor" && rounding != "round_prefer_floor")) {
    fail_bad_input(
        "tf_half_pixel_for_nn is supported with mode nearest and nearest_mode floor or "
        "round_prefer_floor, found mode {} and nearest_mode {}",
        mode, rounding);
  }
  r.node.attributes.set(kCoordinates, std::string("half_pixel"));
  r.node.attributes.set("nearest_mode", std::string(rounding == "floor" ? "round_prefer_ceil" : "ceil"));
}

/// An optional input without elements counts as absent (opset 11 had no other way to leave out scales).
void drop_empty_inputs(Rewrite& r) {
  for (ValueId& input : r.node.inputs) {
    const graph::Tensor* tensor = r.graph.constant(input);
    if (tensor != nullptr && tensor->size() == 0) input = kNoValue;
  }
}

void legacy_roi_align(Rewrite& r) {
  r.node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
}

void rename_grid_modes(Rewrite& r) {
  const auto mode = r.attribute<std::string>("mode", "bilinear");
  if (mode == "bilinear") r.node.attributes.set("mode", std::string("linear"));
  if (mode == "bicubic") r.node.attributes.set("mode", std::string("cubic"));
}

constexpr AdaptRule kRules[] = {
    {"Resize", 11, resize_10},          {"Upsample", 10, upsample},
    {"Resize", 13, tensorflow_nearest}, {"Resize", 23, drop_empty_inputs},
    {"RoiAlign", 16, legacy_roi_align}, {"GridSample", 20, rename_grid_modes},
};

}  // namespace

std::span<const AdaptRule> image_rules() { return kRules; }

}  // namespace hone::importer
