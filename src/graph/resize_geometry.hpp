// The sizes and coordinates of a Resize: the input position that every output position of an axis reads.
// Shared by its shape rule, kernels and devices.
//
// Source: ONNX operator specification of Resize (opset 19). If `scales` are given, the length of the
// resized axis in the coordinate formulas is the unrounded product of scale and size, as in ONNX's own tests;
// tf_crop_and_resize and pytorch_half_pixel use the rounded length, according to their definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/attribute.hpp"

namespace hone::graph {

/// One axis of a Resize. An axis that is not in `axes` has scale 1 and output == input.
struct ResizeAxis {
  int64_t input = 0;
  int64_t output = 0;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;

  /// True if every output position reads the same input position.
  bool is_identity() const { return input == output && scale == 1 && roi_start == 0 && roi_end == 1; }
};

/// The optional inputs of a Resize; an empty tensor counts as absent.
struct ResizeInputs {
  std::optional<std::vector<double>> roi;
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<int64_t>> sizes;
};

/// Attribute `axes` in [0, rank), or all axes. Bad input for an axis outside the rank or named twice.
std::vector<int64_t> resize_axes(const Attributes& attributes, int64_t rank);

/// Reads every axis of the input. Throws bad input that names the field unless exactly one of scales and
/// sizes is present, every list has one entry per axis (two for roi), scales are positive and finite, sizes
/// are not negative, and no empty axis grows.
std::vector<ResizeAxis> read_resize(const Attributes& attributes, std::span<const int64_t> shape,
                                    const ResizeInputs& inputs);

/// Input coordinate that output position `o` of an axis reads, under attribute
/// coordinate_transformation_mode; may lie outside [0, input - 1].
double resize_coordinate(const std::string& mode, const ResizeAxis& axis, int64_t o);

/// True if the attribute's value is one that resize_coordinate knows.
bool is_resize_coordinate_mode(const std::string& mode);

}  // namespace hone::graph
