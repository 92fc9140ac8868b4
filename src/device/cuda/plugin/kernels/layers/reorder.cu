// See reorder.hpp. Transposes go through tiles in shared memory, so that reads and writes are both coalesced.
#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kTileRows = 8;

template <class To, class From>
__device__ __forceinline__ To change(From x) {
  if constexpr (__is_same(To, From)) {
    return x;
  } else {
    return from_float<To>(to_float(x));
  }
}

template <class From, class To, int width>
__global__ void __launch_bounds__(kThreads)
    convert_kernel(const From* from, To* to, int64_t count, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t groups = count / width;
  for (int64_t i = thread_index(); i < groups; i += grid_threads()) {
    From in[width];
    To out[width];
    load<width>(from + i * width, in);
#pragma unroll
    for (int k = 0; k < width; ++k) out[k] = change<To>(in[k]);
    store<width>(to + i * width, out);
  }
  const int64_t tail = groups * width + thread_index();
  if (tail < count) to[tail] = change<To>(from[tail]);
}

template <class From, class To>
__global__ void __launch_bounds__(kTile* kTileRows)
    transpose_kernel(const From* from, To* to, int64_t batch, int64_t rows, int64_t columns,
                     KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  // One column more than needed, so that a column of the tile touches all banks.
  __shared__ To tile[kTile][kTile + 1];
  const int64_t across = (columns + kTile - 1) / kTile;
  const int64_t down = (rows + kTile - 1) / kTile;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  for (int64_t unit = blockIdx.x; unit < batch * across * down; unit += gridDim.x) {
    const int64_t matrix = unit / (across * down) * rows * columns;
    const int64_t row = unit / across % down * kTile;
    const int64_t column = unit % across * kTile;
#pragma unroll
    for (int i = y; i < kTile; i += kTileRows) {
      if (row + i < rows && column + x < columns)
        tile[i][x] = change<To>(from[matrix + (row + i) * columns + column + x]);
    }
    __syncthreads();
#pragma unroll
    for (int i = y; i < kTile; i += kTileRows) {
      if (column + i < columns && row + x < rows) to[matrix + (column + i) * rows + row + x] = tile[x][i];
    }
    __syncthreads();
  }
}

/// Up to this number of rows or columns, most of a tile would be empty.
constexpr int64_t kThin = 8;

/// A matrix with few rows (kRowsAreThin) or few columns: one thread for each place along the long side.
template <class From, class To, bool kRowsAreThin>
__global__ void __launch_bounds__(kThreads)
    thin_transpose_kernel(const From* from, To* to, int64_t batch, int thin, int64_t length,
                          KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t i = thread_index(); i < batch * length; i += grid_threads()) {
    const int64_t matrix = i / length * length * thin;
    const int64_t at = i % length;
    const From* const own = from + matrix + (kRowsAreThin ? at : at * thin);
    To* const target = to + matrix + (kRowsAreThin ? at * thin : at);
    From values[kThin];
#pragma unroll
    for (int t = 0; t < kThin; ++t) {
      if (t < thin) values[t] = own[kRowsAreThin ? t * length : t];
    }
#pragma unroll
    for (int t = 0; t < kThin; ++t) {
      if (t < thin) target[kRowsAreThin ? t : t * length] = change<To>(values[t]);
    }
  }
}

/// One thread computes `width` channels of one pixel; adjacent threads read adjacent pixels of each channel.
template <class From, class To, int width>
__global__ void __launch_bounds__(kThreads)
    pad_kernel(const From* from, To* to, int64_t batch, int64_t channels, int64_t pixels, int64_t padded,
               KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t groups = padded / width;
  for (int64_t i = thread_index(); i < batch * groups * pixels; i += grid_threads()) {
    const int64_t pixel = i % pixels;
    const int64_t group = i / pixels % groups;
    const int64_t image = i / pixels / groups;
    To out[width];
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const int64_t c = group * width + k;
      out[k] = c < channels ? change<To>(from[(image * channels + c) * pixels + pixel]) : from_float<To>(0);
    }
    store<width>(to + (image * pixels + pixel) * padded + group * width, out);
  }
}

template <class From, class To>
cudaError_t launch_transpose(const void* from, void* to, int64_t batch, int64_t rows, int64_t columns,
                             const LaunchOptions& options) {
  if (rows <= kThin || columns <= kThin) {
    const bool thin_rows = rows <= columns;
    const auto kernel =
        thin_rows ? thin_transpose_kernel<From, To, true> : thin_transpose_kernel<From, To, false>;
    const int64_t length = thin_rows ? columns : rows;
    return launch(kernel, grid_for(batch * length), kThreads, options, static_cast<const From*>(from),
                  static_cast<To*>(to), batch, static_cast<int>(thin_rows ? rows : columns), length);
  }
  const int64_t tiles = batch * ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
  return launch(transpose_kernel<From, To>, grid_for(tiles, 1), dim3(kTile, kTileRows), options,
                static_cast<const From*>(from), static_cast<To*>(to), batch, rows, columns);
}

template <class Function>
cudaError_t with_float_types(FloatType from, FloatType to, const Function& function) {
  return with_float_type(from, [&]<class From>() {
    return with_float_type(to, [&]<class To>() { return function.template operator()<From, To>(); });
  });
}

}  // namespace

cudaError_t convert(const void* from, FloatType from_type, void* to, FloatType to_type, int64_t count,
                    const LaunchOptions& options) {
  if (from_type == to_type) {
    // A kernel and not a copy node, because only kernels take part in programmatic launches.
    return with_word(float_bytes(to_type), [&]<class T>() {
      constexpr int kWidth = kVector<T>;
      const auto kernel =
          is_aligned(from) && is_aligned(to) ? convert_kernel<T, T, kWidth> : convert_kernel<T, T, 1>;
      return launch(kernel, grid_for((count + 3) / 4), kThreads, options, static_cast<const T*>(from),
                    static_cast<T*>(to), count);
    });
  }
  return with_float_types(from_type, to_type, [&]<class From, class To>() {
    const auto kernel =
        is_aligned(from) && is_aligned(to) ? convert_kernel<From, To, 8> : convert_kernel<From, To, 1>;
    return launch(kernel, grid_for((count + 7) / 8), kThreads, options, static_cast<const From*>(from),
                  static_cast<To*>(to), count);
  });
}

cudaError_t reorder(const void* from, FloatType from_type, ImageOrder from_order, void* to, FloatType to_type,
                    ImageOrder to_order, const ImageSize& size, const LaunchOptions& options) {
  if (from_order == to_order || size.channels == 1 || size.pixels == 1) {
    return convert(from, from_type, to, to_type, size.batch * size.channels * size.pixels, options);
  }
  const bool plain = from_order == ImageOrder::kPlain;
  const int64_t rows = plain ? size.channels : size.pixels;
  const int64_t columns = plain ? size.pixels : size.channels;
  return with_float_types(from_type, to_type, [&]<class From, class To>() {
    return launch_transpose<From, To>(from, to, size.batch, rows, columns, options);
  });
}

cudaError_t reorder_padded(const void* from, FloatType from_type, void* to, FloatType to_type,
                           const ImageSize& size, int64_t padded_channels, const LaunchOptions& options) {
  if (padded_channels < size.channels) return cudaErrorInvalidValue;
  return with_float_types(from_type, to_type, [&]<class From, class To>() {
    const bool vector = padded_channels % 8 == 0 && is_aligned(to);
    const auto kernel = vector ? pad_kernel<From, To, 8> : pad_kernel<From, To, 1>;
    const int64_t units = size.batch * size.pixels * padded_channels / (vector ? 8 : 1);
    return launch(kernel, grid_for(units), kThreads, options, static_cast<const From*>(from),
                  static_cast<To*>(to), size.batch, size.channels, size.pixels, padded_channels);
  });
}

cudaError_t transpose_matrices(const void* from, void* to, size_t bytes, int64_t batch, int64_t rows,
                               int64_t columns, const LaunchOptions& options) {
  return with_word(
      bytes, [&]<class T>() { return launch_transpose<T, T>(from, to, batch, rows, columns, options); });
}

}  // namespace hone::device::cuda
