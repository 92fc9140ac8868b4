// Computes which input positions each output position of a Resize reads: interpolation is separable, and on
// each axis an output position is a weighted sum of input positions. Shared by the reference kernel and
// devices.
//
// Source: ONNX operator specification of Resize (opset 19).
#pragma once

#include "graph/resize_geometry.hpp"

namespace hone::graph {

/// The attributes that say how to interpolate.
struct ResizeOptions {
  explicit ResizeOptions(const Attributes& attributes);

  std::string mode;
  std::string nearest;
  std::string coordinates;
  bool antialias;
  bool exclude_outside;
  double cubic;
  double extrapolation;
};

/// The positions and weights of one output position of an axis; without taps it is the extrapolation value.
struct ResizeTaps {
  std::vector<int64_t> positions;
  std::vector<double> weights;
};

/// One entry per output position of the axis; all that have taps have equally many.
std::vector<ResizeTaps> resize_taps(const ResizeOptions& options, const ResizeAxis& axis);

}  // namespace hone::graph
