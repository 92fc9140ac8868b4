// See movement.hpp.
#include "device/cuda/plugin/kernels/layers/movement.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"

namespace hone::device::cuda {
namespace {

template <class Index>
struct Walk {
  int rank;
  Divisor<Index> sizes[kMostMoved];
  int64_t strides[kMostMoved];
  int64_t offset;
};

template <class T, class Index>
__global__ void __launch_bounds__(kThreads)
    strided_kernel(const T* from, T* to, int64_t count, const __grid_constant__ Walk<Index> walk,
                   bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    auto index = static_cast<Index>(i);
    int64_t at = walk.offset;
#pragma unroll
    for (int d = kMostMoved - 1; d >= 0; --d) {
      if (d < walk.rank) at += static_cast<int64_t>(take_coordinate(index, walk.sizes[d])) * walk.strides[d];
    }
    to[i] = from[at];
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    blocks_kernel(const Word* from, int64_t from_stride, Word* to, int64_t to_stride, int64_t block,
                  int64_t rows, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t i = thread_index(); i < block * rows; i += grid_threads()) {
    const int64_t row = i / block;
    const int64_t word = i - row * block;
    to[row * to_stride + word] = from[row * from_stride + word];
  }
}

constexpr size_t kMostParts = 32;

/// Sizes and offsets are in words.
struct ConcatTable {
  struct Part {
    const void* from;
    int64_t block;
    int64_t at;
  };
  Part parts[kMostParts];
};

/// Each row of the grid copies one part.
template <class Word>
__global__ void __launch_bounds__(kThreads) concat_kernel(const __grid_constant__ ConcatTable table, Word* to,
                                                          int64_t stride, int64_t rows, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const ConcatTable::Part& part = table.parts[blockIdx.y];
  const auto* const from = static_cast<const Word*>(part.from);
  for (int64_t i = thread_index(); i < part.block * rows; i += grid_threads()) {
    const int64_t row = i / part.block;
    to[row * stride + part.at + (i - row * part.block)] = from[i];
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const T* from, const void* indices, bool wide, T* to, int64_t total, int64_t axis,
                  int64_t inner, int64_t count, bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  for (int64_t i = thread_index(); i < total; i += grid_threads()) {
    const int64_t k = i % inner;
    const int64_t position = i / inner % count;
    const int64_t outer = i / inner / count;
    int64_t index = wide ? static_cast<const int64_t*>(indices)[position]
                         : static_cast<const int32_t*>(indices)[position];
    index = index < 0 ? index + axis : index;
    index = min(max(index, int64_t{0}), axis - 1);
    to[i] = from[(outer * axis + index) * inner + k];
  }
}

struct PadAxes {
  int rank;
  int64_t sizes[kMostMoved], begin[kMostMoved], output[kMostMoved];
};

/// Returns the position in the input, or -1 for the constant.
__device__ __forceinline__ int64_t source_of(int64_t at, int64_t size, PadMode mode) {
  if (at >= 0 && at < size) return at;
  if (mode == PadMode::kConstant || size == 0) return -1;
  if (mode == PadMode::kEdge || size == 1) return at < 0 ? 0 : size - 1;
  const int64_t period = mode == PadMode::kWrap ? size : 2 * (size - 1);
  int64_t rest = at % period;
  rest = rest < 0 ? rest + period : rest;
  return rest < size ? rest : period - rest;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    pad_kernel(const T* from, T* to, PadMode mode, T value, int64_t count,
               const __grid_constant__ PadAxes axes, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    int64_t rest = i;
    int64_t at = 0;
    int64_t stride = 1;
    bool inside = true;
    for (int d = axes.rank - 1; d >= 0; --d) {
      const int64_t source = source_of(rest % axes.output[d] - axes.begin[d], axes.sizes[d], mode);
      rest /= axes.output[d];
      inside = inside && source >= 0;
      at += source * stride;
      stride *= axes.sizes[d];
    }
    to[i] = inside ? from[at] : value;
  }
}

/// True for a view [batch][columns][rows] of a dense [batch][rows][columns].
bool is_transpose(const StridedView& view) {
  const size_t rank = view.sizes.size();
  if (rank < 2 || rank > 3 || view.offset != 0) return false;
  const int64_t columns = view.sizes[rank - 2], rows = view.sizes[rank - 1];
  return view.strides[rank - 2] == 1 && view.strides[rank - 1] == columns &&
         (rank == 2 || view.strides[0] == rows * columns);
}

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;
  return result;
}

/// Calls `run` with the widest word that divides all sizes and addresses; `bits` is the OR of these.
template <class Function>
cudaError_t with_widest_word(uint64_t bits, const Function& run) {
  if (bits % 16 == 0) return run.template operator()<uint4>();
  if (bits % 4 == 0) return run.template operator()<uint32_t>();
  if (bits % 2 == 0) return run.template operator()<uint16_t>();
  return run.template operator()<uint8_t>();
}

}  // namespace

cudaError_t concatenate(std::span<const ConcatPart> parts, void* to, int64_t row_bytes, int64_t rows,
                        const LaunchOptions& options) {
  for (; !parts.empty(); parts = parts.subspan(std::min(parts.size(), kMostParts))) {
    const std::span<const ConcatPart> some = parts.first(std::min(parts.size(), kMostParts));
    auto bits = static_cast<uint64_t>(row_bytes) | reinterpret_cast<uintptr_t>(to);
    int64_t longest = 0;
    for (const ConcatPart& part : some) {
      bits |= static_cast<uint64_t>(part.bytes) | static_cast<uint64_t>(part.at) |
              reinterpret_cast<uintptr_t>(part.from);
      longest = std::max(longest, part.bytes);
    }
    const cudaError_t status = with_widest_word(bits, [&]<class Word>() {
      constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
      ConcatTable table{};
      for (size_t i = 0; i < some.size(); ++i)
        table.parts[i] = {some[i].from, some[i].bytes / kBytes, some[i].at / kBytes};
      dim3 grid = grid_for(longest / kBytes * rows);
      grid.y = static_cast<unsigned>(some.size());
      return launch(concat_kernel<Word>, grid, kThreads, options, table, static_cast<Word*>(to),
                    row_bytes / kBytes, rows);
    });
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

cudaError_t copy_blocks(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t block,
                        int64_t rows, const LaunchOptions& options) {
  const auto bits = static_cast<uint64_t>(from_stride) | static_cast<uint64_t>(to_stride) |
                    static_cast<uint64_t>(block) | reinterpret_cast<uintptr_t>(from) |
                    reinterpret_cast<uintptr_t>(to);
  return with_widest_word(bits, [&]<class Word>() {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
    return launch(blocks_kernel<Word>, grid_for(block / kBytes * rows), kThreads, options,
                  static_cast<const Word*>(from), from_stride / kBytes, static_cast<Word*>(to),
                  to_stride / kBytes, block / kBytes, rows);
  });
}

cudaError_t gather_strided(const void* from, void* to, size_t bytes, const StridedView& view,
                           const LaunchOptions& options) {
  if (view.sizes.size() != view.strides.size()) return cudaErrorInvalidValue;
  const int64_t count = product(view.sizes);
  if (count == 0) return cudaSuccess;
  const StridedView dense = merged(view);
  const size_t rank = dense.sizes.size();
  if (rank > kMostMoved) return cudaErrorInvalidValue;
  if (is_transpose(dense)) {
    return transpose_matrices(from, to, bytes, rank == 3 ? dense.sizes[0] : 1, dense.sizes[rank - 1],
                              dense.sizes[rank - 2], options);
  }
  const StridedView wide =
      widened(dense, reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to), &bytes);
  const int64_t words = product(wide.sizes);
  const auto run = [&]<class T>() {
    return with_index(words, [&]<class Index>() {
      Walk<Index> walk{};
      walk.rank = static_cast<int>(rank);
      walk.offset = wide.offset;
      for (size_t d = 0; d < rank; ++d) {
        walk.sizes[d] = Divisor<Index>(wide.sizes[d]);
        walk.strides[d] = wide.strides[d];
      }
      return launch(strided_kernel<T, Index>, grid_for(words), kThreads, options, static_cast<const T*>(from),
                    static_cast<T*>(to), words, walk, options.next_waits);
    });
  };
  return bytes == sizeof(uint4) ? run.template operator()<uint4>() : with_word(bytes, run);
}

cudaError_t pad(const void* from, void* to, size_t bytes, PadMode mode, const std::vector<int64_t>& sizes,
                const std::vector<int64_t>& begin, const std::vector<int64_t>& output_sizes,
                const void* value, const LaunchOptions& options) {
  const size_t rank = sizes.size();
  if (rank > kMostMoved || begin.size() != rank || output_sizes.size() != rank) return cudaErrorInvalidValue;
  PadAxes axes{};
  axes.rank = static_cast<int>(rank);
  for (size_t d = 0; d < rank; ++d) {
    axes.sizes[d] = sizes[d];
    axes.begin[d] = begin[d];
    axes.output[d] = output_sizes[d];
  }
  const int64_t count = product(output_sizes);
  return with_word(bytes, [&]<class T>() {
    T constant{};
    if (value != nullptr) memcpy(&constant, value, sizeof(T));
    return launch(pad_kernel<T>, grid_for(count), kThreads, options, static_cast<const T*>(from),
                  static_cast<T*>(to), mode, constant, count, axes);
  });
}

cudaError_t gather(const void* from, const void* indices, size_t index_bytes, void* to, size_t bytes,
                   int64_t outer, int64_t axis, int64_t inner, int64_t count, const LaunchOptions& options) {
  if ((index_bytes != 4 && index_bytes != 8) || (axis <= 0 && outer * count * inner != 0))
    return cudaErrorInvalidValue;
  // The contiguous elements that an index selects are moved as words.
  const StridedView rows =
      widened({{axis, inner}, {inner, 1}, 0},
              reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to), &bytes);
  const int64_t words = rows.sizes[1];
  const int64_t total = outer * count * words;
  const auto run = [&]<class T>() {
    return launch(gather_kernel<T>, grid_for(total), kThreads, options, static_cast<const T*>(from), indices,
                  index_bytes == 8, static_cast<T*>(to), total, axis, words, count, options.next_waits);
  };
  return bytes == sizeof(uint4) ? run.template operator()<uint4>() : with_word(bytes, run);
}

}  // namespace hone::device::cuda
