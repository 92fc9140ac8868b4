// See strided_product.hpp. A block computes a tile of 32 x 32 numbers; each thread has four of one column.
#include "device/cuda/plugin/kernels/layers/strided_product.hpp"

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kRowsAtOnce = kThreads / kTile;
constexpr int kOfThread = kTile / kRowsAtOnce;

/// The offsets at which the matrices of one product begin.
struct Offsets {
  int64_t x = 0;
  int64_t w = 0;
  int64_t c = 0;

  __device__ __forceinline__ Offsets(const StridedProduct& p, int64_t index) {
#pragma unroll
    for (int axis = StridedMatrix::kAxes - 1; axis >= 0; --axis) {
      const int64_t at = index % p.batch[axis];
      index /= p.batch[axis];
      x += at * p.x.batch[axis];
      w += at * p.w.batch[axis];
      c += at * p.c.batch[axis];
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    product_kernel(const T* x, const T* w, const T* c, T* y, const __grid_constant__ StridedProduct p,
                   int64_t batch, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  // The padding distributes a column over all banks.
  __shared__ float left[kTile][kTile + 1];
  __shared__ float right[kTile][kTile + 1];
  const int lane = static_cast<int>(threadIdx.x) % kTile;
  const int line = static_cast<int>(threadIdx.x) / kTile;
  const int64_t tiles_across = (p.columns + kTile - 1) / kTile;
  const int64_t tiles = (p.rows + kTile - 1) / kTile * tiles_across;
  for (int64_t unit = blockIdx.x; unit < batch * tiles; unit += gridDim.x) {
    const int64_t matrix = unit / tiles;
    const Offsets at(p, matrix);
    const int64_t first_row = unit % tiles / tiles_across * kTile;
    const int64_t column = unit % tiles % tiles_across * kTile + lane;
    float sums[kOfThread] = {};
    for (int64_t depth = 0; depth < p.depth; depth += kTile) {
#pragma unroll
      for (int i = 0; i < kOfThread; ++i) {
        const int own = line + i * kRowsAtOnce;
        const int64_t row = first_row + own;
        left[own][lane] = row < p.rows && depth + lane < p.depth
                              ? to_float(x[at.x + row * p.x.row + (depth + lane) * p.x.column])
                              : 0.0f;
        right[own][lane] = column < p.columns && depth + own < p.depth
                               ? to_float(w[at.w + (depth + own) * p.w.row + column * p.w.column])
                               : 0.0f;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kTile; ++k) {
#pragma unroll
        for (int i = 0; i < kOfThread; ++i)
          sums[i] = fmaf(left[line + i * kRowsAtOnce][k], right[k][lane], sums[i]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const int64_t row = first_row + line + i * kRowsAtOnce;
      if (row >= p.rows || column >= p.columns) continue;
      float result = p.alpha * sums[i];
      if (c != nullptr)
        result = fmaf(p.beta, to_float(c[at.c + row * p.c.row + column * p.c.column]), result);
      y[(matrix * p.rows + row) * p.columns + column] = from_float<T>(result);
    }
  }
}

}  // namespace

cudaError_t strided_product(const void* x, const void* w, const void* c, void* y, FloatType type,
                            const StridedProduct& product, const LaunchOptions& options) {
  int64_t batch = 1;
  for (const int64_t extent : product.batch) batch *= extent;
  const int64_t tiles =
      ceil_divide(product.rows, int64_t{kTile}) * ceil_divide(product.columns, int64_t{kTile});
  return with_float_type(type, [&]<class T>() {
    return launch(product_kernel<T>, grid_for(batch * tiles, 1), kThreads, options, static_cast<const T*>(x),
                  static_cast<const T*>(w), static_cast<const T*>(c), static_cast<T*>(y), product, batch);
  });
}

}  // namespace hone::device::cuda
