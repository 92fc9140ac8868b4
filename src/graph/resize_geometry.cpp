// See resize_geometry.hpp.
#include "graph/resize_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/shape.hpp"

namespace hone::graph {
namespace {

constexpr const char* kModes[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                  "align_corners", "asymmetric",           "tf_crop_and_resize"};
/// The longest axis; it also keeps the products below exact in double.
constexpr double kMaxLength = 0x1p50;

void check_count(const char* what, size_t count, size_t expected) {
  if (count != expected) fail_bad_input("input '{}' has {} elements, expected {}", what, count, expected);
}

int64_t checked_length(double length) {
  if (!(length >= 0 && length <= kMaxLength)) fail_bad_input("a resized axis would be {} long", length);
  return static_cast<int64_t>(length);
}

/// Output = floor(input * (roi_end - roi_start) * scale), in float like the scales. The region of interest
/// is used only for cropping.
void apply_scale(ResizeAxis& axis, double scale, bool crop) {
  if (!(scale > 0) || std::isinf(scale)) fail_bad_input("input 'scales' holds {}", scale);
  axis.scale = scale;
  float length = static_cast<float>(axis.input) * static_cast<float>(scale);
  if (crop) length *= static_cast<float>(axis.roi_end - axis.roi_start);
  axis.output = checked_length(std::floor(length));
}

void apply_sizes(const Attributes& attributes, const std::vector<int64_t>& axes,
                 const std::vector<int64_t>& sizes, std::vector<ResizeAxis>& result) {
  std::vector<double> scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = result[static_cast<size_t>(axes[i])];
    if (sizes[i] < 0) fail_bad_input("input 'sizes' holds {}", sizes[i]);
    if (axis.input == 0 && sizes[i] > 0) fail_bad_input("axis {} is empty and cannot be resized", axes[i]);
    axis.output = sizes[i];
    axis.scale = axis.input == 0 ? 1 : static_cast<double>(sizes[i]) / static_cast<double>(axis.input);
    scales.push_back(axis.scale);
  }
  const std::string& policy = attributes.get_string("keep_aspect_ratio_policy");
  if (policy == "stretch" || scales.empty()) return;
  const double scale = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                              : *std::max_element(scales.begin(), scales.end());
  for (const int64_t index : axes) {
    ResizeAxis& axis = result[static_cast<size_t>(index)];
    axis.scale = scale;
    axis.output = checked_length(std::floor(scale * static_cast<double>(axis.input) + 0.5));
  }
}

}  // namespace

std::vector<int64_t> resize_axes(const Attributes& attributes, int64_t rank) {
  auto axes = attributes.get_or<std::vector<int64_t>>("axes", {});
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t& axis : axes) {
    axis = tensor::normalize_axis(axis, rank, "attribute 'axes' entry");
    if (seen[static_cast<size_t>(axis)]) fail_bad_input("attribute 'axes' names axis {} twice", axis);
    seen[static_cast<size_t>(axis)] = true;
  }
  return axes;
}

std::vector<ResizeAxis> read_resize(const Attributes& attributes, std::span<const int64_t> shape,
                                    const ResizeInputs& inputs) {
  const auto axes = resize_axes(attributes, static_cast<int64_t>(shape.size()));
  if (inputs.scales.has_value() == inputs.sizes.has_value()) {
    fail_bad_input("exactly one of the inputs 'scales' and 'sizes' is needed");
  }
  std::vector<ResizeAxis> result;
  for (const int64_t size : shape) result.push_back({.input = size, .output = size});
  const bool crop = attributes.get_string("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (crop) {
    if (!inputs.roi) fail_bad_input("tf_crop_and_resize needs the input 'roi'");
    check_count("roi", inputs.roi->size(), 2 * axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      result[static_cast<size_t>(axes[i])].roi_start = (*inputs.roi)[i];
      result[static_cast<size_t>(axes[i])].roi_end = (*inputs.roi)[axes.size() + i];
    }
  }
  if (inputs.sizes) {
    check_count("sizes", inputs.sizes->size(), axes.size());
    apply_sizes(attributes, axes, *inputs.sizes, result);
    return result;
  }
  check_count("scales", inputs.scales->size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    apply_scale(result[static_cast<size_t>(axes[i])], (*inputs.scales)[i], crop);
  }
  return result;
}

double resize_coordinate(const std::string& mode, const ResizeAxis& axis, int64_t o) {
  const auto x = static_cast<double>(o);
  const auto input = static_cast<double>(axis.input);
  const auto output = static_cast<double>(axis.output);
  const double length = axis.scale * input;
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel") return half_pixel;
  if (mode == "half_pixel_symmetric") return input / 2 * (1 - output / length) + half_pixel;
  if (mode == "pytorch_half_pixel") return axis.output > 1 ? half_pixel : 0;
  if (mode == "align_corners") return length == 1 ? 0 : x * (input - 1) / (length - 1);
  if (mode == "asymmetric") return x / axis.scale;
  const double region = (axis.roi_end - axis.roi_start) * (input - 1);
  const double start = axis.roi_start * (input - 1);
  return start + (axis.output > 1 ? x * region / (output - 1) : region / 2);
}

bool is_resize_coordinate_mode(const std::string& mode) {
  return std::find(std::begin(kModes), std::end(kModes), mode) != std::end(kModes);
}

}  // namespace hone::graph
