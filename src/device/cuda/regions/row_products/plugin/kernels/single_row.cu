// The kernel of matrix_vector.hpp for one row, as a decoder's token has: its lanes keep in registers what
// they multiply of the row, since all columns take the same of it. To normalize the row every warp finds its
// moments by itself, and the threads of a block share the rest. Warps share the columns of a row that is too
// long for that.
//
//   w  [column]  chunk 0 | chunk 1 | chunk 2 | ...   of 32 runs, one for each lane; warp s of a column's
//                share 0   share 1   share 0         shares has every chunk of that number
//   ring         stage 0 | stage 1 | ...             asked for before the kernel ahead has ended: one, two or
//                                                    four, so that small products leave room for the next
//                                                    kernel's blocks
#include <algorithm>
#include <type_traits>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector_parts.cuh"
#include "device/cuda/regions/row_products/plugin/kernels/single_row.hpp"

namespace hone::device::cuda {

using namespace matrix_vector_parts;

namespace {

constexpr int kMostShares = kWarps;
/// Runs of a row that a lane keeps at most, and the number up to which four blocks fit on a multiprocessor.
constexpr int kMostHeld = 8;
constexpr int kFewHeld = 4;
/// Partial sums of warps that share a column: of two columns in turn, and of both of a pair.
constexpr int kPartialBytes = 2 * 2 * kWarps * static_cast<int>(sizeof(float));

/// A lane's runs of the row; zeros beyond the depth.
template <class T, int kHeld>
struct Held {
  uint4 words[kHeld][kRunWords<T>];

  /// `first`: the first run of the lane; the others lie `step` apart.
  __device__ __forceinline__ void load(const void* row, int first, int step, int runs) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const int run = first + i * step;
#pragma unroll
      for (int k = 0; k < kRunWords<T>; ++k)
        words[i][k] = run < runs ? static_cast<const uint4*>(row)[run * kRunWords<T> + k] : uint4{0, 0, 0, 0};
    }
  }

  /// The mean of the row, where it is centered, and the factor that gives it a variance of 1. A warp has the
  /// whole row.
  __device__ __forceinline__ float2 moments(const Operands& p, int lane) const {
    const float depth = static_cast<float>(p.runs * kRun);
    float values[kRun];
    float mean = 0.0f;
    if (p.centers) {
      Sums sums;
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        unpack<T>(words[i], values);
#pragma unroll
        for (int k = 0; k < kRun; k += 2) {
          sums.even += values[k];
          sums.odd += values[k + 1];
        }
      }
      mean = reduce_warp(sums.value(), Plus()) / depth;
    }
    Sums squares;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      if (lane + i * 32 >= p.runs) break;
      unpack<T>(words[i], values);
#pragma unroll
      for (int k = 0; k < kRun; ++k) values[k] -= mean;
      squares.add(values, values);
    }
    return {mean, 1.0f / sqrtf(reduce_warp(squares.value(), Plus()) / depth + p.epsilon)};
  }
};

/// Brings the row into shared memory, normalized: each thread has one run of it at most.
template <class T, int kHeld>
__device__ __forceinline__ void normalize_row(const Operands& p, const RunParameters& parameters,
                                              const Held<T, kHeld>& x, uint4* to) {
  const int run = static_cast<int>(threadIdx.x);
  uint4 words[kRunWords<T>] = {};
#pragma unroll
  for (int k = 0; k < kRunWords<T>; ++k) {
    if (run < p.runs) words[k] = static_cast<const uint4*>(p.args.x)[run * kRunWords<T> + k];
  }
  const float2 moments = x.moments(p, run % 32);
  if (run < p.runs) {
    float values[kRun];
    unpack<T>(words, values);
    parameters.normalize(moments.x, moments.y, values);
    pack<T>(values, to + run * kRunWords<T>);
  }
  __syncthreads();
}

/// A warp's part of its columns, a stage at a time.
template <class T, bool kPaired>
struct Ring {
  static constexpr int kRuns = kStageWords / kRunWords<T> / (kPaired ? 2 : 1);  ///< of a matrix, of a lane

  int column;  ///< among those of all matrices
  int held = 0;

  /// Where word `k` of run `i` of the lane lies, in words from the beginning of the stage.
  static __device__ __forceinline__ int word(int i, int k) {
    return (i * kRunWords<T> + k) * kWarps * 32 + static_cast<int>(threadIdx.x);
  }

  /// Asks for the next stage, and closes the group of its copies, which is empty after the last column.
  __device__ __forceinline__ void fetch(const Operands& p, uint32_t stage, int first, int stride) {
    if (column < p.all_columns) {
      const Column at(p, column);
      ask(p, at.of<T>(p.args.matrices[at.matrix].w, p.runs), stage, 0, first);
      if constexpr (kPaired) ask(p, at.of<T>(p.args.pair.w, p.runs), stage, kRuns, first);
    }
    ptx::commit_copies();
    held += kRuns;
    if (held < p.held) return;
    held = 0;
    column += stride;
  }

 private:
  __device__ __forceinline__ void ask(const Operands& p, const uint4* w, uint32_t stage, int at,
                                      int first) const {
#pragma unroll
    for (int i = 0; i < kRuns; ++i) {
      if (held + i >= p.held) break;
      const int run = first + (held + i) * 32 * p.shares;
#pragma unroll
      for (int k = 0; k < kRunWords<T>; ++k)
        ptx::copy16(stage + word(at + i, k) * 16, w + min(run, p.runs - 1) * kRunWords<T> + k, run < p.runs);
    }
  }
};

}  // namespace

template <class T, class Result, bool kPaired, int kHeld, int kStages>
__global__ void __launch_bounds__(kWarps * 32, kHeld == kFewHeld && sizeof(T) == 2 ? 4 : 1)
    single_row_kernel(const __grid_constant__ Operands p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int share = warp % p.shares;
  const int groups = kWarps / p.shares;
  const int stride = static_cast<int>(gridDim.x) * groups;
  const int first_run = share * 32 + lane;
  const uint32_t ring = ptx::shared_address(memory);
  auto* const partial = reinterpret_cast<float*>(memory + kStages * kStageBytes);
  auto* const row = reinterpret_cast<uint4*>(memory + kStages * kStageBytes + kPartialBytes);
  int first_column = static_cast<int>(blockIdx.x) * groups;
  int of_all = first_column + warp / p.shares;
  Ring<T, kPaired> ahead{of_all};
#pragma unroll
  for (int s = 0; s < kStages; ++s) ahead.fetch(p, ring + s * kStageBytes, first_run, stride);
  // A warp without a column takes part in the block's work, and writes nothing.
  Column column(p, min(of_all, p.all_columns - 1));
  Biases biases;
  biases.load<kPaired>(p, column);
  RunParameters parameters;
  if (p.normalizes) parameters.load(p.args, min(static_cast<int>(threadIdx.x), p.runs - 1));
  ptx::wait_for_previous_kernel();
  Held<T, kHeld> x;
  x.load(p.args.x, first_run, 32 * p.shares, p.runs);
  float fetched = fetched_operand<T>(p, 0, column.number);
  if (p.normalizes) {
    normalize_row(p, parameters, x, row);
    x.load(row, first_run, 32 * p.shares, p.runs);
  }
  int stage = 0;
  for (int turn = 0; first_column < p.all_columns; turn ^= 1) {
    Sums sums;
    Sums pair_sums;
#pragma unroll
    for (int first = 0; first < kHeld; first += Ring<T, kPaired>::kRuns) {
      if (first >= p.held) break;
      ptx::wait_copies<kStages - 1>();
      const auto* const words = reinterpret_cast<const uint4*>(memory + stage * kStageBytes);
#pragma unroll
      for (int i = 0; i < Ring<T, kPaired>::kRuns && first + i < kHeld; ++i) {
        if (first + i >= p.held) break;
        uint4 of_run[kRunWords<T>];
        uint4 of_pair[kRunWords<T>];
#pragma unroll
        for (int k = 0; k < kRunWords<T>; ++k) {
          of_run[k] = words[Ring<T, kPaired>::word(i, k)];
          if constexpr (kPaired) of_pair[k] = words[Ring<T, kPaired>::word(Ring<T, kPaired>::kRuns + i, k)];
        }
        float values[kRun];
        float w[kRun];
        unpack<T>(x.words[first + i], values);
        unpack<T>(of_run, w);
        sums.add(w, values);
        if constexpr (kPaired) {
          unpack<T>(of_pair, w);
          pair_sums.add(w, values);
        }
      }
      ahead.fetch(p, ring + stage * kStageBytes, first_run, stride);
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    float value = reduce_warp(sums.value(), Plus());
    float pair = kPaired ? reduce_warp(pair_sums.value(), Plus()) : 0.0f;
    if (p.shares > 1) {
      float* const own = partial + turn * 2 * kWarps;
      if (lane == 0) {
        own[warp] = value;
        if constexpr (kPaired) own[kWarps + warp] = pair;
      }
      __syncthreads();
      for (int s = 1; s < p.shares && share == 0; ++s) {
        value += own[warp + s];
        if constexpr (kPaired) pair += own[kWarps + warp + s];
      }
    }
    if (lane == 0 && share == 0 && of_all < p.all_columns)
      finish<T, Result, kPaired>(p, column, 0, value, pair, biases, fetched);
    first_column += stride;
    of_all += stride;
    if (first_column >= p.all_columns) return;
    column = Column(p, min(of_all, p.all_columns - 1));
    biases.load<kPaired>(p, column);
    fetched = fetched_operand<T>(p, 0, column.number);
  }
}

namespace {

/// The kernel for `kHeld` runs of a lane and `kStages` stages; null where there is none of these types.
template <class T, int kHeld, int kStages>
const void* kernel_of(FloatType result, bool paired) {
  constexpr FloatType kOwn = std::is_same_v<T, float>    ? FloatType::kFloat
                             : std::is_same_v<T, __half> ? FloatType::kHalf
                                                         : FloatType::kBfloat16;
  if (result == kOwn) {
    return paired ? kernel_address(&single_row_kernel<T, T, true, kHeld, kStages>)
                  : kernel_address(&single_row_kernel<T, T, false, kHeld, kStages>);
  }
  if (result != FloatType::kFloat || paired) return nullptr;
  return kernel_address(&single_row_kernel<T, float, false, kHeld, kStages>);
}

template <int kHeld, int kStages>
const void* kernel_of(FloatType type, FloatType result, bool paired) {
  switch (type) {
    case FloatType::kFloat: return kernel_of<float, kHeld, kStages>(result, paired);
    case FloatType::kHalf: return kernel_of<__half, kHeld, kStages>(result, paired);
    case FloatType::kBfloat16: return kernel_of<__nv_bfloat16, kHeld, kStages>(result, paired);
  }
  return nullptr;
}

template <int kStages>
const void* kernel_of(FloatType type, FloatType result, bool paired, int held) {
  return held <= kFewHeld ? kernel_of<kFewHeld, kStages>(type, result, paired)
                          : kernel_of<kMostHeld, kStages>(type, result, paired);
}

const void* kernel_of(FloatType type, FloatType result, bool paired, int held, int stages) {
  if (stages == 1) return kernel_of<1>(type, result, paired, held);
  if (stages == 2) return kernel_of<2>(type, result, paired, held);
  return kernel_of<4>(type, result, paired, held);
}

/// Runs of a lane where `shares` warps have a column.
int64_t held_runs(int64_t runs, int64_t shares) { return (runs + 32 * shares - 1) / (32 * shares); }

/// Warps that share a column: as few as leave each lane few runs. A row that is normalized is whole in every
/// warp.
int64_t shares_for(const MatrixVector& size) {
  const int64_t runs = size.depth / kRun;
  if (size.normalizes) return 1;
  int64_t shares = 1;
  while (shares < kMostShares && held_runs(runs, shares) > kFewHeld) shares *= 2;
  return shares;
}

}  // namespace

bool fits_single_row(const MatrixVector& size) {
  return size.rows == 1 && held_runs(size.depth / kRun, shares_for(size)) <= kMostHeld;
}

cudaError_t launch_single_row(matrix_vector_parts::Operands operands, FloatType type, FloatType result,
                              const MatrixVector& size, const LaunchOptions& options) {
  const bool paired = size.paired_step >= 0;
  const int64_t shares = shares_for(size);
  operands.shares = static_cast<int>(shares);
  operands.held = static_cast<int>(held_runs(operands.runs, shares));
  const int64_t runs_of_stage = kStageWords / (type == FloatType::kFloat ? 2 : 1) / (paired ? 2 : 1);
  const int64_t stages_of_column = (operands.held + runs_of_stage - 1) / runs_of_stage;
  const int64_t all_blocks = (operands.all_columns * shares + kWarps - 1) / kWarps;
  const int64_t own_bytes =
      kPartialBytes + (size.normalizes ? size.depth * static_cast<int64_t>(float_bytes(type)) : 0);
  GemmLaunch launch;
  launch.threads = kWarps * 32;
  // As few stages as all columns of a warp need, and four at most. A GPU without room for more has one.
  for (const int stages : {1, 2, 4}) {
    GemmLaunch tried = launch;
    tried.function = kernel_of(type, result, paired, operands.held, stages);
    if (tried.function == nullptr) return cudaErrorInvalidValue;
    tried.shared_bytes = own_bytes + stages * kStageBytes;
    if (stages > 1 && tried.shared_bytes > options.device->shared_memory) break;
    // No more blocks than run at once: the others would ask for their first columns late.
    int64_t resident = 0;
    if (const cudaError_t error = resident_blocks(tried, *options.device, resident); error != cudaSuccess)
      return error;
    const int64_t rounds = (all_blocks + std::max<int64_t>(resident, 1) - 1) / std::max<int64_t>(resident, 1);
    tried.blocks = (all_blocks + rounds - 1) / rounds;
    launch = tried;
    if (rounds * stages_of_column <= stages) break;
  }
  return launch_gemm(launch, &operands, options);
}

}  // namespace hone::device::cuda
