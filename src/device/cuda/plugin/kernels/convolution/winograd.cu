// The device code of winograd.hpp. It is memory-bound: a thread transforms two channels of a tile.
#include "device/cuda/plugin/kernels/common/epilogue.cuh"
#include "device/cuda/plugin/kernels/convolution/winograd.hpp"
#include "device/cuda/plugin/kernels/convolution/winograd_transforms.hpp"

namespace hone::device::cuda {
namespace {

using winograd::kPoints;

constexpr int kBlock = 128;
constexpr int kWidth = 2;

struct Plan {
  int first, count, tiles;  ///< the part's first tile and number of tiles; the number of all tiles
  int channels;             ///< of the result
  int rows, columns;        ///< of the image that is read or written
  int pad_y, pad_x;
  Divisor<uint32_t> by_group, by_column, by_row;
  uint32_t units;
};

/// Two channels of a tile.
struct Place {
  int tile, c, n, row, column;  ///< the tile within its part; the others within the whole
};

__device__ __forceinline__ Place place_of(const Plan& plan, uint32_t unit) {
  Place place{};
  place.c = static_cast<int>(take_coordinate(unit, plan.by_group)) * kWidth;
  place.tile = static_cast<int>(unit);
  unit += static_cast<uint32_t>(plan.first);
  place.column = static_cast<int>(take_coordinate(unit, plan.by_column));
  place.row = static_cast<int>(take_coordinate(unit, plan.by_row));
  place.n = static_cast<int>(unit);
  return place;
}

template <int tile>
__global__ void __launch_bounds__(kBlock)
    image_kernel(const float* x, float* v, const __grid_constant__ Plan plan, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const auto unit = static_cast<uint32_t>(thread_index());
  if (unit >= plan.units) return;
  const Place place = place_of(plan, unit);
  const int top = place.row * tile - plan.pad_y;
  const int left = place.column * tile - plan.pad_x;
  const bool real = plan.first + place.tile < plan.tiles;
  float values[kWidth][kPoints][kPoints] = {};
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    const int y = top + i;
    const bool inside = real && y >= 0 && y < plan.rows;
    const float* const line =
        x + ((static_cast<int64_t>(place.n) * plan.rows + y) * plan.columns) * plan.channels + place.c;
#pragma unroll
    for (int j = 0; j < kPoints; ++j) {
      const int at = left + j;
      if (!inside || at < 0 || at >= plan.columns) continue;
      float pair[kWidth];
      load<kWidth>(line + static_cast<int64_t>(at) * plan.channels, pair);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) values[k][i][j] = pair[k];
    }
  }
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
#pragma unroll
    for (int i = 0; i < kPoints; ++i) winograd::transform_input(values[k][i]);
#pragma unroll
    for (int j = 0; j < kPoints; ++j) {
      float column[kPoints];
#pragma unroll
      for (int i = 0; i < kPoints; ++i) column[i] = values[k][i][j];
      winograd::transform_input(column);
#pragma unroll
      for (int i = 0; i < kPoints; ++i) values[k][i][j] = column[i];
    }
  }
  float* to = v + static_cast<int64_t>(place.tile) * plan.channels + place.c;
  const int64_t step = static_cast<int64_t>(plan.count) * plan.channels;
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
#pragma unroll
    for (int j = 0; j < kPoints; ++j) {
      const float pair[kWidth] = {values[0][i][j], values[1][i][j]};
      store<kWidth>(to + (i * kPoints + j) * step, pair);
    }
  }
}

template <int tile>
__global__ void __launch_bounds__(kBlock)
    result_kernel(const float* m, const float* bias, float* y, const __grid_constant__ Plan plan,
                  const __grid_constant__ Epilogue epilogue, KernelStamp* stamp) {
  // The outputs of each thread go through shared memory, so that one copy of the epilogue serves all of them.
  __shared__ float2 outputs[tile * tile][kBlock];
  const RunningKernel running(stamp);
  begin_kernel();
  const auto unit = static_cast<uint32_t>(thread_index());
  if (unit >= plan.units) return;
  const Place place = place_of(plan, unit);
  const float* const from = m + static_cast<int64_t>(place.tile) * plan.channels + place.c;
  const int64_t step = static_cast<int64_t>(plan.count) * plan.channels;
  float rows[kWidth][kPoints][tile];  // the products, with each row transformed along x
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    float line[kWidth][kPoints];
#pragma unroll
    for (int j = 0; j < kPoints; ++j) {
      float pair[kWidth];
      load<kWidth>(from + (i * kPoints + j) * step, pair);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) line[k][j] = pair[k];
    }
#pragma unroll
    for (int k = 0; k < kWidth; ++k) winograd::transform_output(line[k], rows[k][i]);
  }
#pragma unroll
  for (int j = 0; j < tile; ++j) {
    float made[kWidth][tile];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      float column[kPoints];
#pragma unroll
      for (int i = 0; i < kPoints; ++i) column[i] = rows[k][i][j];
      winograd::transform_output(column, made[k]);
    }
#pragma unroll
    for (int i = 0; i < tile; ++i) outputs[i * tile + j][threadIdx.x] = make_float2(made[0][i], made[1][i]);
  }
  const float2 added = bias == nullptr ? make_float2(0, 0) : make_float2(bias[place.c], bias[place.c + 1]);
#pragma unroll 1
  for (int i = 0; i < tile * tile; ++i) {
    const int row = place.row * tile + i / tile;
    const int column = place.column * tile + i % tile;
    if (row >= plan.rows || column >= plan.columns) continue;
    const float2 sum = outputs[i][threadIdx.x];
    float values[kWidth] = {sum.x + added.x, sum.y + added.y};
    const int64_t offset =
        ((static_cast<int64_t>(place.n) * plan.rows + row) * plan.columns + column) * plan.channels + place.c;
    apply_epilogue<float>(epilogue, values, place.n, place.c, offset);
    store<kWidth>(y + offset, values);
  }
}

Plan plan_of(const Winograd& size, int64_t first, int64_t count, bool image) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  Plan plan{};
  plan.first = narrow(first);
  plan.count = narrow(count);
  plan.tiles = narrow(size.tiles());
  plan.channels = narrow(image ? size.channels : size.filters);
  plan.rows = narrow(image ? size.height : size.out_height);
  plan.columns = narrow(image ? size.width : size.out_width);
  plan.pad_y = narrow(size.pad_top);
  plan.pad_x = narrow(size.pad_left);
  plan.by_group = Divisor<uint32_t>(plan.channels / kWidth);
  plan.by_column = Divisor<uint32_t>(size.tiles_x());
  plan.by_row = Divisor<uint32_t>(size.tiles_y());
  // Tiles after the last one are transformed as zeros, but their results are not written.
  const int64_t made = image ? count : std::min(count, size.tiles() - first);
  plan.units = static_cast<uint32_t>(std::max<int64_t>(made, 0) * plan.channels / kWidth);
  return plan;
}

bool is_part(const Winograd& size, int64_t first, int64_t count) {
  return !winograd_refusal(size) && first >= 0 && count > 0 && first < size.tiles() && count <= size.tiles();
}

}  // namespace

cudaError_t winograd_image(const Winograd& size, const float* x, int64_t first, int64_t count, float* v,
                           const LaunchOptions& options) {
  if (!is_part(size, first, count)) return cudaErrorInvalidValue;
  const Plan plan = plan_of(size, first, count, true);
  return launch(size.taps == 3 ? image_kernel<4> : image_kernel<2>, grid_for(plan.units, kBlock), kBlock,
                options, x, v, plan);
}

cudaError_t winograd_result(const Winograd& size, const float* m, int64_t first, int64_t count,
                            const float* bias, const Epilogue& epilogue, float* y,
                            const LaunchOptions& options) {
  if (!is_part(size, first, count)) return cudaErrorInvalidValue;
  const Plan plan = plan_of(size, first, count, false);
  return launch(size.taps == 3 ? result_kernel<4> : result_kernel<2>, grid_for(plan.units, kBlock), kBlock,
                options, m, bias, y, plan, epilogue);
}

}  // namespace hone::device::cuda
