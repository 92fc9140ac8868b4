// How an image lies in a network's input, and the way back.
#pragma once

#include <cstdint>
#include <string_view>

#include "task/detection.hpp"

namespace hone::task {

enum class Fit {
  kStretch,    ///< both sides to those of the input
  kLetterbox,  ///< one factor, rounded sizes, in the middle: Ultralytics' letterbox
  kCorner,     ///< one factor, sizes cut to whole pixels, at the upper left: YOLOX
  kDarknet     ///< one factor, whole sizes, in the middle, half pixels on the way back: darknet's letterbox
};

std::string_view fit_name(Fit fit);
/// Usage error for other names.
Fit parse_fit(std::string_view name);

struct Geometry {
  int64_t image_width = 0;
  int64_t image_height = 0;
  int64_t input_width = 0;
  int64_t input_height = 0;
  /// The rectangle of the input that the image fills.
  int64_t left = 0;
  int64_t top = 0;
  int64_t width = 0;
  int64_t height = 0;
  /// A point x of the image is at x * x_scale + x_shift in the input. The factors are those before sizes were
  /// rounded, as training code has them.
  double x_scale = 1;
  double y_scale = 1;
  double x_shift = 0;
  double y_shift = 0;
};

Geometry place_image(Fit fit, int64_t image_width, int64_t image_height, int64_t input_width,
                     int64_t input_height);

/// From pixels of the input to pixels of the image.
engine::BoxPlace box_place(const Geometry& geometry);

}  // namespace hone::task
