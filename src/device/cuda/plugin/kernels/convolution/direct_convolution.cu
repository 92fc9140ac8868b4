// See direct_convolution.hpp. An implicit GEMM: rows are output pixels, columns are output channels, and the
// depth runs over (r, s, c). A block computes one tile of the output. The operands pass through
// double-buffered shared memory, and every thread keeps a patch of sums in registers.
#include "device/cuda/plugin/kernels/convolution/direct_convolution.hpp"

#include "device/cuda/plugin/kernels/common/epilogue.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kDepth = 16;
constexpr int kPatchColumns = 4;

struct Plan {
  int channels, outputs;
  int rows, columns, out_columns, kernel_columns;
  int stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  int depth;        ///< R * S * C
  int pixels;       ///< of one output image
  int64_t samples;  ///< output pixels of all images
  Divisor<uint32_t> by_pixels, by_out_columns, by_channels, by_kernel_columns;
};

/// A tile whose threads hold patches of `patch` x 4 sums.
template <int tile_rows, int tile_columns, int patch, bool vector>
struct Tile {
  static constexpr int kThreadCount = tile_rows / patch * (tile_columns / kPatchColumns);
  /// Elements that one thread loads at once: adjacent along c if the channels allow it.
  static constexpr int kWidth = vector ? 4 : 1;
  static constexpr int kInputLoads = tile_rows * kDepth / kThreadCount / kWidth;
  static constexpr int kWeightLoads = tile_columns * kDepth / kThreadCount / kWidth;
  static_assert(kInputLoads > 0 && kWeightLoads > 0);
};

/// The first position of one output pixel's window.
struct Corner {
  int y, x;
  int64_t image;
};

__device__ __forceinline__ Corner corner_of(const Plan& plan, int64_t sample) {
  if (sample >= plan.samples) return {-(1 << 29), 0, 0};
  auto index = static_cast<uint32_t>(sample);
  const uint32_t pixel = take_coordinate(index, plan.by_pixels);
  uint32_t row = pixel;
  const uint32_t column = take_coordinate(row, plan.by_out_columns);
  return {static_cast<int>(row) * plan.stride_y - plan.pad_y,
          static_cast<int>(column) * plan.stride_x - plan.pad_x,
          static_cast<int64_t>(index) * plan.rows * plan.columns};
}

/// Loads `width` inputs at depth k of the window at `corner`; zeros outside the image.
template <int width>
__device__ __forceinline__ void load_input(const Plan& plan, const float* input, const Corner& corner, int k,
                                           float (&to)[width]) {
#pragma unroll
  for (int i = 0; i < width; ++i) to[i] = 0.0f;
  if (k >= plan.depth) return;
  auto tap = static_cast<uint32_t>(k);
  const uint32_t c = take_coordinate(tap, plan.by_channels);
  const uint32_t s = take_coordinate(tap, plan.by_kernel_columns);
  const int y = corner.y + static_cast<int>(tap) * plan.dilation_y;
  const int x = corner.x + static_cast<int>(s) * plan.dilation_x;
  if (y < 0 || y >= plan.rows || x < 0 || x >= plan.columns) return;
  load<width>(input + (corner.image + static_cast<int64_t>(y) * plan.columns + x) * plan.channels + c, to);
}

template <int width>
__device__ __forceinline__ void load_weights(const Plan& plan, const float* weights, int k, int column,
                                             float (&to)[width]) {
#pragma unroll
  for (int i = 0; i < width; ++i) to[i] = 0.0f;
  if (k < plan.depth && column < plan.outputs)
    load<width>(weights + static_cast<int64_t>(k) * plan.outputs + column, to);
}

template <int tile_rows, int tile_columns, int patch, bool vector>
__global__ void __launch_bounds__(Tile<tile_rows, tile_columns, patch, vector>::kThreadCount)
    direct_kernel(const float* input, const float* weights, const float* bias, float* output,
                  const __grid_constant__ Plan plan, const __grid_constant__ Epilogue epilogue,
                  KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  using Shape = Tile<tile_rows, tile_columns, patch, vector>;
  constexpr int kWidth = Shape::kWidth;
  // Rows are padded by one access, so that the scattered writes of a warp go to different banks.
  __shared__ __align__(16) float inputs[2][kDepth][tile_rows + 4];
  __shared__ __align__(16) float taps[2][kDepth][tile_columns + 4];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * tile_rows;
  const int first_column = static_cast<int>(blockIdx.y) * tile_columns;

  constexpr int kGroups = kDepth / kWidth;
  Corner corners[Shape::kInputLoads];
  float next_inputs[Shape::kInputLoads][kWidth];
  float next_taps[Shape::kWeightLoads][kWidth];
#pragma unroll
  for (int i = 0; i < Shape::kInputLoads; ++i)
    corners[i] = corner_of(plan, first_row + (thread + i * Shape::kThreadCount) / kGroups);

  const auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < Shape::kInputLoads; ++i) {
      const int unit = thread + i * Shape::kThreadCount;
      load_input<kWidth>(plan, input, corners[i], k0 + unit % kGroups * kWidth, next_inputs[i]);
    }
#pragma unroll
    for (int i = 0; i < Shape::kWeightLoads; ++i) {
      const int unit = (thread + i * Shape::kThreadCount) * kWidth;
      load_weights<kWidth>(plan, weights, k0 + unit / tile_columns, first_column + unit % tile_columns,
                           next_taps[i]);
    }
  };
  const auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < Shape::kInputLoads; ++i) {
      const int unit = thread + i * Shape::kThreadCount;
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        inputs[buffer][unit % kGroups * kWidth + j][unit / kGroups] = next_inputs[i][j];
    }
#pragma unroll
    for (int i = 0; i < Shape::kWeightLoads; ++i) {
      const int unit = (thread + i * Shape::kThreadCount) * kWidth;
      store<kWidth>(&taps[buffer][unit / tile_columns][unit % tile_columns], next_taps[i]);
    }
  };

  const int column = thread % (tile_columns / kPatchColumns) * kPatchColumns;
  const int row = thread / (tile_columns / kPatchColumns) * patch;
  float sums[patch][kPatchColumns] = {};
  fetch(0);
  put(0);
  __syncthreads();
  for (int k0 = 0, buffer = 0; k0 < plan.depth; k0 += kDepth, buffer ^= 1) {
    const bool more = k0 + kDepth < plan.depth;
    if (more) fetch(k0 + kDepth);
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float a[patch];
      float b[kPatchColumns];
      load<patch>(&inputs[buffer][k][row], a);
      load<kPatchColumns>(&taps[buffer][k][column], b);
#pragma unroll
      for (int i = 0; i < patch; ++i) {
#pragma unroll
        for (int j = 0; j < kPatchColumns; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
      }
    }
    if (more) put(buffer ^ 1);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < patch; ++i) {
    const int64_t sample = first_row + row + i;
    const int k = first_column + column;
    if (sample >= plan.samples || k >= plan.outputs) continue;
    const int64_t n = sample / plan.pixels;
    const int64_t offset = sample * plan.outputs + k;
    if constexpr (vector) {
      if (bias != nullptr) {
#pragma unroll
        for (int j = 0; j < kPatchColumns; ++j) sums[i][j] += bias[k + j];
      }
      apply_epilogue<float>(epilogue, sums[i], n, k, offset);
      store<kPatchColumns>(output + offset, sums[i]);
    } else {
#pragma unroll 1
      for (int j = 0; j < kPatchColumns && k + j < plan.outputs; ++j) {
        float value[1] = {sums[i][0] + (bias != nullptr ? bias[k + j] : 0.0f)};
        apply_epilogue<float>(epilogue, value, n, k + j, offset + j);
        output[offset + j] = value[0];
        // The columns pass through the first register in turn.
#pragma unroll
        for (int m = 0; m + 1 < kPatchColumns; ++m) sums[i][m] = sums[i][m + 1];
      }
    }
  }
}

Plan plan_of(const ConvolutionSize& size) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  Plan plan{};
  plan.channels = narrow(size.in_channels);
  plan.outputs = narrow(size.out_channels);
  plan.rows = narrow(size.input[1]);
  plan.columns = narrow(size.input[2]);
  plan.out_columns = narrow(size.output[2]);
  plan.kernel_columns = narrow(size.kernel[2]);
  plan.stride_y = narrow(size.stride[1]);
  plan.stride_x = narrow(size.stride[2]);
  plan.dilation_y = narrow(size.dilation[1]);
  plan.dilation_x = narrow(size.dilation[2]);
  plan.pad_y = narrow(size.pad_begin[1]);
  plan.pad_x = narrow(size.pad_begin[2]);
  plan.depth = narrow(size.kernel[1] * size.kernel[2] * size.in_channels);
  plan.pixels = narrow(size.output[1] * size.output[2]);
  plan.samples = size.batch * plan.pixels;
  plan.by_pixels = Divisor<uint32_t>(plan.pixels);
  plan.by_out_columns = Divisor<uint32_t>(plan.out_columns);
  plan.by_channels = Divisor<uint32_t>(plan.channels);
  plan.by_kernel_columns = Divisor<uint32_t>(plan.kernel_columns);
  return plan;
}

template <int tile_rows, int tile_columns, int patch, bool vector>
cudaError_t launch_tile(const ConvolutionArguments& arguments, const ConvolutionSize& size,
                        const Epilogue& epilogue, const LaunchOptions& options) {
  const Plan plan = plan_of(size);
  const dim3 grid(static_cast<unsigned>((plan.samples + tile_rows - 1) / tile_rows),
                  static_cast<unsigned>((plan.outputs + tile_columns - 1) / tile_columns));
  return launch(direct_kernel<tile_rows, tile_columns, patch, vector>, grid,
                Tile<tile_rows, tile_columns, patch, vector>::kThreadCount, options,
                static_cast<const float*>(arguments.input), static_cast<const float*>(arguments.weights),
                arguments.bias, static_cast<float*>(arguments.output), plan, epilogue);
}

}  // namespace

cudaError_t direct_convolution(const ConvolutionArguments& arguments, const ConvolutionSize& size,
                               const Epilogue& epilogue, DirectTile tile, const LaunchOptions& options) {
  const int64_t samples = size.batch * size.output[1] * size.output[2];
  if (size.group != 1 || size.kernel[0] != 1 || size.input[0] != 1 || size.output[0] != 1 ||
      samples >= int64_t{1} << 31 || size.out_channels > 65535 * 32) {
    return cudaErrorInvalidValue;
  }
  if (samples == 0 || size.out_channels == 0) return cudaSuccess;
  const bool vector = size.in_channels % 4 == 0 && size.out_channels % 4 == 0 &&
                      is_aligned(arguments.input) && is_aligned(arguments.weights) &&
                      is_aligned(arguments.output) && is_aligned(epilogue);
  if (!vector) {
    // The address computations of single loads leave no registers for the large patch.
    return tile == DirectTile::k32x32 ? launch_tile<32, 32, 4, false>(arguments, size, epilogue, options)
                                      : launch_tile<64, 64, 4, false>(arguments, size, epilogue, options);
  }
  switch (tile) {
    case DirectTile::k128x64: return launch_tile<128, 64, 8, true>(arguments, size, epilogue, options);
    case DirectTile::k64x64: return launch_tile<64, 64, 4, true>(arguments, size, epilogue, options);
    case DirectTile::k32x32: return launch_tile<32, 32, 4, true>(arguments, size, epilogue, options);
  }
  return cudaErrorInvalidValue;
}

}  // namespace hone::device::cuda
