// See indexing.hpp.
#include "device/cuda/plugin/kernels/layers/indexing.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

struct Indices {
  const void* values;
  bool wide;
  /// Index i into an axis of `size` elements: negative ones count from the end, and the result is clamped.
  __device__ __forceinline__ int64_t get(int64_t i, int64_t size) const {
    int64_t index = wide ? static_cast<const int64_t*>(values)[i] : static_cast<const int32_t*>(values)[i];
    index = index < 0 ? index + size : index;
    return min(max(index, int64_t{0}), size - 1);
  }
};

/// `Index` is the integer type that can count all elements.
template <class Index>
struct ElementPlaces {
  int rank;
  Divisor<Index> sizes[kMostIndexed];
  int64_t strides[kMostIndexed];
  int64_t axis_size, axis_stride;

  __device__ __forceinline__ int64_t place(const Indices& indices, int64_t i) const {
    int64_t at = indices.get(i, axis_size) * axis_stride;
    auto rest = static_cast<Index>(i);
    for (int d = rank - 1; d >= 0; --d)
      at += static_cast<int64_t>(take_coordinate(rest, sizes[d])) * strides[d];
    return at;
  }
};

struct SlicePlaces {
  int length;
  int64_t sizes[kMostIndexed], strides[kMostIndexed];
  int64_t tuples_per_batch, batch_stride, slice;

  __device__ __forceinline__ int64_t place(const Indices& indices, int64_t i) const {
    const int64_t tuple = i / slice;
    int64_t at = tuple / tuples_per_batch * batch_stride + i % slice;
    for (int k = 0; k < length; ++k) at += indices.get(tuple * length + k, sizes[k]) * strides[k];
    return at;
  }
};

template <class T, class Places, bool scatters>
__global__ void __launch_bounds__(kThreads)
    picks_kernel(const T* from, Indices indices, T* to, int64_t count, const __grid_constant__ Places places,
                 bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    const int64_t at = places.place(indices, i);
    to[scatters ? at : i] = from[scatters ? i : at];
  }
}

template <bool scatters, class Places>
cudaError_t launch_picks(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                         int64_t count, const Places& places, const LaunchOptions& options) {
  if (index_bytes != 4 && index_bytes != 8) return cudaErrorInvalidValue;
  return with_word(bytes, [&]<class T>() {
    return launch(picks_kernel<T, Places, scatters>, grid_for(count), kThreads, options,
                  static_cast<const T*>(from), Indices{indices, index_bytes == 8}, static_cast<T*>(to), count,
                  places, options.next_waits);
  });
}

template <bool scatters>
cudaError_t launch_elements(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                            const ElementPicks& picks, const LaunchOptions& options) {
  const size_t rank = picks.sizes.size();
  if (rank > kMostIndexed || picks.strides.size() != rank) return cudaErrorInvalidValue;
  int64_t count = 1;
  for (const int64_t size : picks.sizes) count *= size;
  if (count == 0) return cudaSuccess;
  return with_index(count, [&]<class Index>() {
    ElementPlaces<Index> places{};
    places.rank = static_cast<int>(rank);
    places.axis_size = picks.axis_size;
    places.axis_stride = picks.axis_stride;
    for (size_t d = 0; d < rank; ++d) {
      places.sizes[d] = Divisor<Index>(picks.sizes[d]);
      places.strides[d] = picks.strides[d];
    }
    return launch_picks<scatters>(from, indices, index_bytes, to, bytes, count, places, options);
  });
}

template <bool scatters>
cudaError_t launch_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                          const SlicePicks& picks, const LaunchOptions& options) {
  const size_t length = picks.sizes.size();
  if (length > kMostIndexed || picks.strides.size() != length) return cudaErrorInvalidValue;
  SlicePlaces places{};
  places.length = static_cast<int>(length);
  places.tuples_per_batch = picks.tuples_per_batch;
  places.batch_stride = picks.batch_stride;
  places.slice = picks.slice;
  for (size_t k = 0; k < length; ++k) {
    places.sizes[k] = picks.sizes[k];
    places.strides[k] = picks.strides[k];
  }
  return launch_picks<scatters>(from, indices, index_bytes, to, bytes, picks.tuples * picks.slice, places,
                                options);
}

}  // namespace

cudaError_t gather_elements(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                            const ElementPicks& picks, const LaunchOptions& options) {
  return launch_elements<false>(from, indices, index_bytes, to, bytes, picks, options);
}

cudaError_t gather_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                          const SlicePicks& picks, const LaunchOptions& options) {
  return launch_slices<false>(from, indices, index_bytes, to, bytes, picks, options);
}

cudaError_t scatter_elements(const void* from, const void* indices, size_t index_bytes, void* to,
                             size_t bytes, const ElementPicks& picks, const LaunchOptions& options) {
  return launch_elements<true>(from, indices, index_bytes, to, bytes, picks, options);
}

cudaError_t scatter_slices(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                           const SlicePicks& picks, const LaunchOptions& options) {
  return launch_slices<true>(from, indices, index_bytes, to, bytes, picks, options);
}

}  // namespace hone::device::cuda
