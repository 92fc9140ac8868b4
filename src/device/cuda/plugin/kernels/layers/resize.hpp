// Interpolates images along up to three spatial axes.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// The input positions for every output position of one axis: [output][taps] positions and their weights, in
/// device memory. Nearest has one tap, linear two, cubic four, antialiasing more. The coordinate modes of
/// ONNX differ only in these tables. A first position of -1 means the extrapolation value.
struct ResizeAxisTaps {
  int64_t input = 1;
  int64_t output = 1;
  int taps = 1;
  /// Null for an axis along which output and input positions are equal.
  const int32_t* positions = nullptr;
  const float* weights = nullptr;
};

struct ResizeSize {
  int64_t batch = 1;
  int64_t channels = 1;
  /// Absent axes (the first ones) stay at size 1.
  ResizeAxisTaps axes[3];
};

/// Input and output have the same type and order.
cudaError_t resize(const void* input, void* output, FloatType type, ImageOrder order, const ResizeSize& size,
                   float extrapolation, const LaunchOptions& options);

/// Resizes bytes, signed or not, by tables of one tap of weight 1.
cudaError_t resize_bytes(const void* input, void* output, ImageOrder order, const ResizeSize& size,
                         const LaunchOptions& options);

}  // namespace hone::device::cuda
