// Operator table entries of the detection family: NonMaxSuppression, RoiAlign and MaxRoiPool.
#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

/// Requires that input i is a scalar or a vector of one element.
void expect_scalar(const InferenceContext& context, size_t i) {
  if (!context.has_input(i) || !context.ranked(i) || context.dims(i).empty()) return;
  expect_dims(context, i, {1});
}

/// boxes [batch, boxes, 4], scores [batch, classes, boxes]; the number of selected boxes depends on the data.
void infer_non_max_suppression(InferenceContext& context) {
  for (const size_t i : {0, 1, 3, 4}) require_dtype(context, i, {DType::kFloat32});
  require_dtype(context, 2, {DType::kInt64});
  expect_dims(context, 0, {{}, {}, 4});
  expect_dims(context, 1, {dim_of(context, 0, 0), {}, dim_of(context, 0, 1)});
  for (const size_t i : {2, 3, 4}) expect_scalar(context, i);
  const int64_t format = context.attributes().get_int("center_point_box");
  context.require(format == 0 || format == 1, "attribute 'center_point_box' is {}, expected 0 or 1", format);
  context.set_output(0, DType::kInt64, Dims{{}, 3});
}

int64_t positive(const InferenceContext& context, const char* name) {
  const int64_t value = context.attributes().get_int(name);
  context.require(value >= 1, "attribute '{}' is {}, expected at least 1", name, value);
  return value;
}

void require_positive_scale(const InferenceContext& context) {
  const float scale = context.attributes().get_float("spatial_scale");
  context.require(scale > 0, "attribute 'spatial_scale' is {}, expected a positive number", scale);
}

/// x [N, C, H, W], rois [count, 4], batch_indices [count].
void infer_roi_align(InferenceContext& context) {
  require_floating(context, 0);
  require_same_dtype(context, 0, 1);
  require_dtype(context, 2, {DType::kInt64});
  expect_dims(context, 0, {{}, {}, {}, {}});
  expect_dims(context, 1, {{}, 4});
  expect_dims(context, 2, {dim_of(context, 1, 0)});
  require_positive_scale(context);
  const std::string& mode = context.attributes().get_string("mode");
  context.require(mode == "avg" || mode == "max", "attribute 'mode' is '{}', expected avg or max", mode);
  const std::string& pixels = context.attributes().get_string("coordinate_transformation_mode");
  context.require(pixels == "half_pixel" || pixels == "output_half_pixel",
                  "attribute 'coordinate_transformation_mode' is '{}'", pixels);
  const int64_t ratio = context.attributes().get_int("sampling_ratio");
  context.require(ratio >= 0, "attribute 'sampling_ratio' is {}, expected at least 0", ratio);
  context.set_output(0, context.dtype(0),
                     Dims{dim_of(context, 1, 0), dim_of(context, 0, 1), positive(context, "output_height"),
                          positive(context, "output_width")});
}

/// x [N, C, H, W], rois [count, 5] with the image's index first.
void infer_max_roi_pool(InferenceContext& context) {
  require_floating(context, 0);
  require_same_dtype(context, 0, 1);
  expect_dims(context, 0, {{}, {}, {}, {}});
  expect_dims(context, 1, {{}, 5});
  require_positive_scale(context);
  const auto& pooled = context.attributes().get_ints("pooled_shape");
  context.require(pooled.size() == 2, "attribute 'pooled_shape' has {} entries, expected 2", pooled.size());
  for (const int64_t size : pooled) {
    context.require(size >= 1, "attribute 'pooled_shape' holds {}, expected at least 1", size);
  }
  context.set_output(0, context.dtype(0),
                     Dims{dim_of(context, 1, 0), dim_of(context, 0, 1), pooled[0], pooled[1]});
}

}  // namespace

void add_detection_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "NonMaxSuppression",
                   .since_version = 11,
                   .min_inputs = 2,
                   .max_inputs = 5,
                   .attributes = {int_attribute("center_point_box", 0)},
                   .infer = infer_non_max_suppression,
                   .traits = {.discontinuous = true}});
  table.push_back({.name = "RoiAlign",
                   .since_version = 22,
                   .min_inputs = 3,
                   .max_inputs = 3,
                   .attributes = {string_attribute("coordinate_transformation_mode", "half_pixel"),
                                  string_attribute("mode", "avg"), int_attribute("output_height", 1),
                                  int_attribute("output_width", 1), int_attribute("sampling_ratio", 0),
                                  float_attribute("spatial_scale", 1.0f)},
                   .infer = infer_roi_align,
                   .traits = {.first_place_input = 1}});
  table.push_back({.name = "MaxRoiPool",
                   .since_version = 22,
                   .min_inputs = 2,
                   .max_inputs = 2,
                   .attributes = {required_attribute("pooled_shape", AttributeKind::kInts),
                                  float_attribute("spatial_scale", 1.0f)},
                   .infer = infer_max_roi_pool,
                   .traits = {.first_place_input = 1}});
}

}  // namespace hone::graph
