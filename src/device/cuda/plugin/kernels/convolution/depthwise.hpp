// Convolutions whose groups have too few channels for tensor cores, on channels-last images.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/epilogue.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"

namespace hone::device::cuda {

/// A convolution over up to three spatial axes; absent axes (the first ones) have size 1. Positions outside
/// the input read as zero, so the padding at the end follows from the output's size.
struct ConvolutionSize {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t group = 1;
  int64_t input[3] = {1, 1, 1};
  int64_t output[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad_begin[3] = {0, 0, 0};
};

struct ConvolutionArguments {
  const void* input = nullptr;
  /// Weights in the launcher's own packing and element type.
  const void* weights = nullptr;
  /// One float for each output channel, or null.
  const float* bias = nullptr;
  void* output = nullptr;
};

/// True for square windows of 3 x 3 or 5 x 5 with strides of 1 or 2 and without dilation.
inline bool has_small_windows(const ConvolutionSize& size) {
  const int64_t taps = size.kernel[1];
  return (taps == 3 || taps == 5) && size.kernel[2] == taps && size.stride[1] == size.stride[2] &&
         size.stride[1] <= 2 && size.dilation[1] == 1 && size.dilation[2] == 1;
}

/// For in_channels == out_channels == group and two spatial axes (depth 1). Weights are [R][S][C] and float
/// for images of every type: they are few, and rounding errors do not average out over such short sums.
///
/// `strip` is the number of outputs along a row that one thread computes (1, 2 or 4; 0 chooses by the size of
/// the image). Only small windows have strips; for others, a thread computes one output. With `narrow`, which
/// needs small windows, a thread computes one output of two channels instead of 16 bytes of them. Pointers
/// must then be 16-byte aligned.
cudaError_t depthwise_convolution(const ConvolutionArguments& arguments, FloatType type,
                                  const ConvolutionSize& size, const Epilogue& epilogue, int strip,
                                  bool narrow, const LaunchOptions& options);

/// True for small windows, and for those of 7 x 7 with a stride of 1.
inline bool has_tile_windows(const ConvolutionSize& size) {
  const bool is_wide = size.kernel[1] == 7 && size.kernel[2] == 7 && size.stride[1] == 1 &&
                       size.stride[2] == 1 && size.dilation[1] == 1 && size.dilation[2] == 1;
  return is_wide || has_small_windows(size);
}

/// Rows of outputs that a thread of depthwise_tiles() may compute. There are fewer at a stride of 2, whose
/// windows read twice the rows of the input.
inline std::array<int, 2> depthwise_tile_runs(const ConvolutionSize& size) {
  return size.stride[1] == 1 ? std::array{4, 7} : std::array{2, 4};
}

/// A depthwise convolution in fp16 and bf16 for compute capability 9.0. The copy unit brings tiles, and each
/// thread goes down a tile and computes `run` rows of outputs, one of depthwise_tile_runs(). Returns
/// cudaErrorInvalidValue for problems that depthwise_tiles_refusal() refuses, and cudaErrorMisalignedAddress
/// if an operand is not 16-byte aligned.
cudaError_t depthwise_tiles(const ConvolutionArguments& arguments, FloatType type,
                            const ConvolutionSize& size, const StreamEpilogue& epilogue, int run,
                            const LaunchOptions& options);

/// The reason why depthwise_tiles() cannot run; empty if it can. `epilogue` is the epilogue, or null if it is
/// not a StreamEpilogue.
Refusal depthwise_tiles_refusal(const ConvolutionSize& size, FloatType type,
                                const std::optional<StreamEpilogue>& epilogue, int run,
                                const DeviceProperties& device);

/// Any number of groups and any kernel. One thread computes one output: simple, not fast. Weights are
/// [K][D][R][S][C / group] of the image's element type.
cudaError_t grouped_convolution(const ConvolutionArguments& arguments, FloatType type,
                                const ConvolutionSize& size, const Epilogue& epilogue,
                                const LaunchOptions& options);

}  // namespace hone::device::cuda
