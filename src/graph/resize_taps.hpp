// Computes the input positions that each output position of a Resize reads. Interpolation is separable: on
// each axis an output position is a weighted sum of input positions. Shared by the reference kernel and
// devices.
//
// Source: ONNX operator specification of Resize (opset 19).
#pragma once

#include "graph/resize_geometry.hpp"

namespace hone::graph {

/// The attributes that control interpolation.
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

/// The positions and weights of one output position of an axis. An output without taps is the extrapolation
/// value.
struct ResizeTaps {
  std::vector<int64_t> positions;
  std::vector<double> weights;
};

/// One entry per output position of the axis; all entries with taps have the same number of them.
std::vector<ResizeTaps> resize_taps(const ResizeOptions& options, const ResizeAxis& axis);

}  // namespace hone::graph
