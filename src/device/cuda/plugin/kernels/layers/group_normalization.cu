// See group_normalization.hpp. A group is divided into pieces, one for each warp. The first kernel writes the
// mean and the sum of squared differences of each piece. In the second kernel, every warp combines those of
// its group, which are few and cached. Both kernels read runs of 16 bytes.
#include "device/cuda/plugin/kernels/layers/group_normalization.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/epilogue.cuh"
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kWarps = 4;
/// One block handles a group with fewer elements, and reads them a second time from its cache.
constexpr int64_t kManyElements = 4096;
/// Enough warps to fill the multiprocessors of any current GPU.
constexpr int64_t kWantedWarps = 2048;
/// The fewest runs that a lane reads, so that combining the pieces stays a small part of the work.
constexpr int64_t kLeastRuns = 4;
constexpr int64_t kMostPieces = 512;

/// Elements that a lane reads at once.
int64_t run_of(FloatType type) { return 16 / static_cast<int64_t>(float_bytes(type)); }

/// A group's elements form rows of `row` elements; a run never crosses a row.
struct Pieces {
  int64_t groups = 0;  ///< groups of all images
  int64_t groups_per_image = 1;
  int64_t image_stride = 0;
  int64_t group_stride = 0;
  uint32_t elements = 0;  ///< elements of a group
  uint32_t of_piece = 0;  ///< elements of a piece: whole runs for all lanes
  uint32_t count = 1;     ///< pieces of a group
  uint32_t row_stride = 0;
  Divisor<uint32_t> row;
  Divisor<uint32_t> pixels;  ///< elements of a channel if they are contiguous
  uint32_t members = 1;      ///< channels of a group
  bool channels_last = false;
  float epsilon = 0;
};

/// True if whole runs cover the groups.
bool has_runs(const GroupNormalization& norm) {
  const int64_t run = run_of(norm.type);
  const int64_t members = norm.channels / norm.groups;
  const int64_t elements = members * norm.pixels;
  if (elements < kManyElements || elements >= int64_t{1} << 30 || norm.channels >= int64_t{1} << 30)
    return false;
  return norm.order == ImageOrder::kPlain ? norm.pixels % run == 0 : members % run == 0;
}

Pieces pieces_of(const GroupNormalization& norm) {
  const int64_t members = norm.channels / norm.groups;
  const bool last = norm.order == ImageOrder::kChannelsLast;
  Pieces pieces;
  pieces.groups = norm.batch * norm.groups;
  pieces.groups_per_image = norm.groups;
  pieces.image_stride = norm.channels * norm.pixels;
  pieces.group_stride = last ? members : members * norm.pixels;
  const int64_t elements = members * norm.pixels;
  const int64_t lanes = 32 * run_of(norm.type);
  const int64_t turns = (elements + lanes - 1) / lanes;
  const int64_t wanted =
      std::clamp<int64_t>((kWantedWarps + pieces.groups - 1) / pieces.groups, 1, kMostPieces);
  const int64_t turns_of_piece = std::max(kLeastRuns, (turns + wanted - 1) / wanted);
  pieces.elements = static_cast<uint32_t>(elements);
  pieces.of_piece = static_cast<uint32_t>(turns_of_piece * lanes);
  pieces.count = static_cast<uint32_t>((turns + turns_of_piece - 1) / turns_of_piece);
  pieces.row = Divisor<uint32_t>(last ? members : elements);
  pieces.row_stride = static_cast<uint32_t>(last ? norm.channels : elements);
  pieces.pixels = Divisor<uint32_t>(norm.pixels);
  pieces.members = static_cast<uint32_t>(members);
  pieces.channels_last = last;
  pieces.epsilon = norm.epsilon;
  return pieces;
}

/// Moments of some elements: their count, their mean, and the sum of their squared differences from it.
struct Moments {
  float count = 0.0f;
  float mean = 0.0f;
  float squares = 0.0f;

  /// Combines them with others (Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for
  /// Computing Sample Variances", 1979).
  __device__ __forceinline__ void add(const Moments& other) {
    const float all = count + other.count;
    const float share = all == 0.0f ? 0.0f : __fdividef(other.count, all);
    const float difference = other.mean - mean;
    mean = fmaf(difference, share, mean);
    squares += fmaf(difference * difference, count * share, other.squares);
    count = all;
  }
};

/// Combines the moments of all lanes; every lane gets the result.
__device__ __forceinline__ Moments of_warp(Moments moments) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    Moments other;
    other.count = __shfl_xor_sync(~0u, moments.count, mask);
    other.mean = __shfl_xor_sync(~0u, moments.mean, mask);
    other.squares = __shfl_xor_sync(~0u, moments.squares, mask);
    moments.add(other);
  }
  return moments;
}

template <int kRun>
__device__ __forceinline__ Moments of_run(const float (&x)[kRun]) {
  Moments moments;
  moments.count = kRun;
#pragma unroll
  for (int i = 0; i < kRun; ++i) moments.mean += x[i];
  moments.mean *= 1.0f / kRun;
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    const float difference = x[i] - moments.mean;
    moments.squares = fmaf(difference, difference, moments.squares);
  }
  return moments;
}

/// The piece of one warp.
struct Piece {
  int64_t group;
  uint32_t number;
  int64_t begin;  ///< memory offset of the group's first element

  __device__ __forceinline__ explicit Piece(const Pieces& pieces) {
    const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    group = warp / pieces.count;
    number = static_cast<uint32_t>(warp - group * pieces.count);
    begin = group / pieces.groups_per_image * pieces.image_stride +
            group % pieces.groups_per_image * pieces.group_stride;
  }

  /// Calls `each(element, position)` for the first element of each of this lane's runs.
  template <int kRun, class Each>
  __device__ __forceinline__ void runs(const Pieces& pieces, const Each& each) const {
    const uint32_t end = min((number + 1) * pieces.of_piece, pieces.elements);
    for (uint32_t i = number * pieces.of_piece + threadIdx.x % 32 * kRun; i < end; i += 32 * kRun) {
      const uint32_t row = pieces.row.quotient(i);
      each(i, begin + static_cast<int64_t>(row) * pieces.row_stride + (i - row * pieces.row.value));
    }
  }
};

template <class T>
__global__ void __launch_bounds__(32 * kWarps)
    group_statistics_kernel(const T* input, float2* found, const __grid_constant__ Pieces pieces,
                            KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(true);
  const Piece piece(pieces);
  if (piece.group >= pieces.groups) return;
  Moments moments;
  piece.runs<kVector<T>>(pieces, [&](uint32_t, int64_t at) {
    float x[kVector<T>];
    load_floats<kVector<T>>(input + at, x);
    moments.add(of_run(x));
  });
  moments = of_warp(moments);
  if (threadIdx.x % 32 == 0)
    found[piece.group * pieces.count + piece.number] = make_float2(moments.mean, moments.squares);
}

template <class T>
__global__ void __launch_bounds__(32 * kWarps)
    group_normalize_kernel(const T* input, T* output, const float2* found, const float* scale,
                           const float* bias, const __grid_constant__ Pieces pieces,
                           const __grid_constant__ Epilogue activations, bool next_waits,
                           KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  const Piece piece(pieces);
  if (piece.group >= pieces.groups) return;
  Moments moments;
  for (uint32_t i = threadIdx.x % 32; i < pieces.count; i += 32) {
    const float2 part = found[piece.group * pieces.count + i];
    Moments other;
    other.count = static_cast<float>(min(pieces.of_piece, pieces.elements - i * pieces.of_piece));
    other.mean = part.x;
    other.squares = part.y;
    moments.add(other);
  }
  moments = of_warp(moments);
  const float factor = 1.0f / sqrtf(moments.squares / moments.count + pieces.epsilon);
  const int64_t first = piece.group % pieces.groups_per_image * pieces.members;
  piece.runs<kVector<T>>(pieces, [&](uint32_t element, int64_t at) {
    constexpr int kRun = kVector<T>;
    float x[kRun];
    float scales[kRun];
    float shifts[kRun];
    load_floats<kRun>(input + at, x);
    const uint32_t row = pieces.row.quotient(element);
    const int64_t channel =
        first + (pieces.channels_last ? element - row * pieces.row.value : pieces.pixels.quotient(element));
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      const int64_t c = pieces.channels_last ? channel + i : channel;
      scales[i] = scale == nullptr ? 1.0f : __ldg(scale + c);
      shifts[i] = bias == nullptr ? 0.0f : __ldg(bias + c);
    }
#pragma unroll
    for (int i = 0; i < kRun; ++i) x[i] = fmaf((x[i] - moments.mean) * factor, scales[i], shifts[i]);
    apply_epilogue<T>(activations, x, 0, 0, 0);
    store_floats<kRun>(output + at, x);
  });
}

}  // namespace

int64_t group_normalization_bytes(const GroupNormalization& norm) {
  if (norm.batch * norm.channels * norm.pixels == 0 || !has_runs(norm)) return 0;
  const Pieces pieces = pieces_of(norm);
  return pieces.groups * pieces.count * static_cast<int64_t>(sizeof(float2));
}

cudaError_t group_normalization(const GroupNormalization& norm, const void* input, void* output,
                                const float* scale, const float* bias, void* workspace,
                                const LaunchOptions& options) {
  if (norm.groups <= 0 || norm.channels % norm.groups != 0) return cudaErrorInvalidValue;
  if (norm.batch * norm.channels * norm.pixels == 0) return cudaSuccess;
  if (!has_runs(norm) || !is_aligned(input) || !is_aligned(output)) {
    return normalize_groups(norm, input, output, scale, bias, options);
  }
  const Pieces pieces = pieces_of(norm);
  auto* const found = static_cast<float2*>(workspace);
  const dim3 grid = grid_for(pieces.groups * pieces.count, kWarps);
  return with_float_type(norm.type, [&]<class T>() {
    const cudaError_t status = launch(group_statistics_kernel<T>, grid, 32 * kWarps, options,
                                      static_cast<const T*>(input), found, pieces);
    if (status != cudaSuccess) return status;
    return launch(group_normalize_kernel<T>, grid, 32 * kWarps, options, static_cast<const T*>(input),
                  static_cast<T*>(output), static_cast<const float2*>(found), scale, bias, pieces,
                  norm.activations, options.next_waits);
  });
}

}  // namespace hone::device::cuda
