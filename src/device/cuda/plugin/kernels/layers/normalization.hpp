// Softmax, layer, root mean square, group and instance normalization, local response normalization.
// Statistics are in float.
#pragma once

#include "device/cuda/plugin/kernels/layers/group_normalization.hpp"

namespace hone::device::cuda {

/// Softmax (or its logarithm) along the middle of [outer][axis][inner]. The output may be the input.
cudaError_t softmax(const void* input, FloatType type, void* output, FloatType output_type, bool logarithm,
                    int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options);

/// (x - mean) / sqrt(variance + epsilon) * scale + bias over each of `rows` rows of `columns`. Scale and bias
/// have one float for each column, or are null. `constants`: no kernel writes them, so they can be read
/// before the previous kernel has ended.
cudaError_t layer_normalization(const void* input, void* output, FloatType type, const float* scale,
                                const float* bias, bool constants, float epsilon, int64_t rows,
                                int64_t columns, const LaunchOptions& options);

/// x / sqrt(mean of squares + epsilon) * scale over each row (Zhang and Sennrich, "Root Mean Square Layer
/// Normalization", 2019). The other arguments are those of layer_normalization().
cudaError_t rms_normalization(const void* input, void* output, FloatType type, const float* scale,
                              bool constants, float epsilon, int64_t rows, int64_t columns,
                              const LaunchOptions& options);

/// Like group_normalization(), with one block for each group; neither groups nor the batch may be empty.
cudaError_t normalize_groups(const GroupNormalization& norm, const void* input, void* output,
                             const float* scale, const float* bias, const LaunchOptions& options);

/// x / (bias + alpha / size * sum of squares)^beta over `size` adjacent channels, floor((size - 1) / 2) of
/// them before the current one. The output must not be the input.
cudaError_t local_response_normalization(const void* input, void* output, FloatType type, ImageOrder order,
                                         int64_t size, float alpha, float beta, float bias, int64_t batch,
                                         int64_t channels, int64_t pixels, const LaunchOptions& options);

}  // namespace hone::device::cuda
