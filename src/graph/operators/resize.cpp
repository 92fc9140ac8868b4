// Operator table entries of the convolution family: Resize.
#include "graph/resize_geometry.hpp"

#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/rules.hpp"

namespace hone::graph {
namespace {

/// True if the input is present and not known to be empty; older models write an empty input for an absent
/// one.
bool is_given(const InferenceContext& context, size_t i) {
  if (!context.has_input(i)) return false;
  const auto& dims = context.input(i).dims;
  return !dims || dims->empty() || !(*dims)[0].is(0);
}

std::optional<std::vector<double>> constant_values(const InferenceContext& context, size_t i) {
  const Tensor* tensor = is_given(context, i) ? context.constant(i) : nullptr;
  return tensor == nullptr ? std::nullopt : std::optional(tensor->to_double());
}

void check_resize_attributes(const InferenceContext& context) {
  require_choice(context, "mode", {"nearest", "linear", "cubic"});
  require_choice(context, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  require_choice(context, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  const std::string& coordinates = context.attributes().get_string("coordinate_transformation_mode");
  context.require(is_resize_coordinate_mode(coordinates),
                  "attribute 'coordinate_transformation_mode' is '{}'", coordinates);
}

/// Output dimensions if the input's shape or the sizes are symbolic.
Dims partial_resize(const InferenceContext& context, const std::vector<int64_t>& axes,
                    const ResizeInputs& inputs) {
  Dims dims = context.dims(0);
  const bool stretch = context.attributes().get_string("keep_aspect_ratio_policy") == "stretch";
  const auto sizes = is_given(context, 3) && stretch ? context.data(3) : std::nullopt;
  context.require(!sizes || sizes->size() == axes.size(), "input 'sizes' has {} elements, expected {}",
                  sizes ? sizes->size() : 0, axes.size());
  context.require(!inputs.scales || inputs.scales->size() == axes.size(),
                  "input 'scales' has {} elements, expected {}", inputs.scales ? inputs.scales->size() : 0,
                  axes.size());
  const bool crop = context.attributes().get_string("coordinate_transformation_mode") == "tf_crop_and_resize";
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = dims[static_cast<size_t>(axes[i])];
    if (sizes) {
      context.require(!(*sizes)[i].known() || (*sizes)[i].value() >= 0, "input 'sizes' holds {}",
                      (*sizes)[i].text());
      dim = (*sizes)[i];
    } else if (crop || !inputs.scales || (*inputs.scales)[i] != 1) {
      dim = {};
    }
  }
  return dims;
}

void infer_resize(InferenceContext& context) {
  check_resize_attributes(context);
  context.require(is_given(context, 2) != is_given(context, 3),
                  "exactly one of the inputs 'scales' and 'sizes' is needed");
  if (!context.ranked(0)) return context.set_output(0, context.dtype(0), std::nullopt);
  const auto axes = resize_axes(context.attributes(), context.rank(0));
  ResizeInputs inputs{constant_values(context, 1), constant_values(context, 2), std::nullopt};
  if (is_given(context, 3)) inputs.sizes = context.known_data(3);
  const bool crop = context.attributes().get_string("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (!context.input(0).fully_known() || (!inputs.scales && !inputs.sizes) || (crop && !inputs.roi)) {
    return context.set_output(0, context.dtype(0), partial_resize(context, axes, inputs));
  }
  std::vector<int64_t> shape;
  for (const Dim& dim : context.dims(0)) shape.push_back(dim.value());
  Dims dims;
  for (const ResizeAxis& axis : read_resize(context.attributes(), shape, inputs)) dims.push_back(axis.output);
  context.set_output(0, context.dtype(0), std::move(dims));
}

std::vector<AttributeDef> resize_attributes() {
  return {int_attribute("antialias", 0),
          optional_attribute("axes", AttributeKind::kInts),
          string_attribute("coordinate_transformation_mode", "half_pixel"),
          float_attribute("cubic_coeff_a", -0.75f),
          int_attribute("exclude_outside", 0),
          float_attribute("extrapolation_value", 0.0f),
          string_attribute("keep_aspect_ratio_policy", "stretch"),
          string_attribute("mode", "nearest"),
          string_attribute("nearest_mode", "round_prefer_floor")};
}

}  // namespace

void add_resize_operator(std::vector<OperatorDef>& table) {
  table.push_back({.name = "Resize",
                   .since_version = 19,
                   .min_inputs = 1,
                   .max_inputs = 4,
                   .attributes = resize_attributes(),
                   .infer = infer_resize,
                   .traits = {.first_place_input = 1}});
}

}  // namespace hone::graph
