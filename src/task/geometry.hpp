// The position of an image in a network's input, and the mapping back to the image.
#pragma once

#include <cstdint>
#include <string_view>

#include "task/detection.hpp"

namespace hone::task {

enum class Fit {
  kStretch,    ///< both sides are scaled to those of the input
  kLetterbox,  ///< one factor, rounded sizes, centred: Ultralytics' letterbox
  kCorner,     ///< one factor, sizes rounded down, at the upper left: YOLOX
  kDarknet     ///< one factor, sizes rounded down, centred, half pixels on the way back: darknet's letterbox
};

std::string_view fit_name(Fit fit);
/// Usage error for other names.
Fit parse_fit(std::string_view name);

struct Geometry {
  int64_t image_width = 0;
  int64_t image_height = 0;
  int64_t input_width = 0;
  int64_t input_height = 0;
  /// The rectangle of the input that the image covers.
  int64_t left = 0;
  int64_t top = 0;
  int64_t width = 0;
  int64_t height = 0;
  /// A point x of the image is at x * x_scale + x_shift in the input. As in training code, the factors are
  /// those before the sizes were rounded.
  double x_scale = 1;
  double y_scale = 1;
  double x_shift = 0;
  double y_shift = 0;
};

Geometry place_image(Fit fit, int64_t image_width, int64_t image_height, int64_t input_width,
                     int64_t input_height);

/// Returns the mapping from pixels of the input to pixels of the image.
engine::BoxPlace box_place(const Geometry& geometry);

}  // namespace hone::task
