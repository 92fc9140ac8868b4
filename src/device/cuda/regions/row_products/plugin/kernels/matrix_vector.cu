// See matrix_vector.hpp; for several rows, or one that is very long. A warp computes one column of the result
// after another: its lanes have runs of eight elements of the depth, 32 apart, and add up their sums at the
// end. Runs come through a ring of stages in shared memory, in which every lane has places of its own, so
// that no thread waits for another.
//
//   w  [column]  run 0 | run 1 | ... | run 31 | run 32 | ...        kStages stages asked for, then
//                lane 0  lane 1        lane 31  lane 0              the kernel ahead is waited for
//   ring         stage 0 | stage 1 | ...                            of kStageRuns runs of each lane
//   x  [row]     brought into shared memory by the whole block, normalized where that is asked for
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector.hpp"

#include <algorithm>
#include <type_traits>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector_parts.cuh"
#include "device/cuda/regions/row_products/plugin/kernels/single_row.hpp"

namespace hone::device::cuda {
namespace {

using namespace matrix_vector_parts;

/// Stages of a block's ring. Three blocks on each multiprocessor, with 64 KB each, keep the memory of an H200
/// busy.
constexpr int kMostStages = 4;
/// Runs of a row that a thread keeps while it normalizes the row.
constexpr int kKeptRuns = 2;
/// In front of normalized rows: what warps have of sums.
constexpr int kScratchBytes = 128;

/// A row as it is normalized, by all threads of the block; `first` are the parameters of a thread's first
/// run.
template <class T>
__device__ __forceinline__ void normalize_row(const Operands& p, const RunParameters& first,
                                              const uint4* from, uint4* to, float* scratch) {
  constexpr int kThreadsOfBlock = kWarps * 32;
  const int thread = static_cast<int>(threadIdx.x);
  const auto depth = static_cast<float>(p.runs * kRun);
  uint4 kept[kKeptRuns][kRunWords<T>];
#pragma unroll
  for (int i = 0; i < kKeptRuns; ++i) {
    const int run = thread + i * kThreadsOfBlock;
#pragma unroll
    for (int k = 0; k < kRunWords<T>; ++k)
      kept[i][k] = run < p.runs ? from[run * kRunWords<T> + k] : make_uint4(0, 0, 0, 0);
  }
  const auto for_each_run = [&](const auto& use) {
    float values[kRun];
#pragma unroll
    for (int i = 0; i < kKeptRuns; ++i) {
      const int run = thread + i * kThreadsOfBlock;
      if (run >= p.runs) return;
      unpack<T>(kept[i], values);
      use(run, values);
    }
    for (int run = thread + kKeptRuns * kThreadsOfBlock; run < p.runs; run += kThreadsOfBlock) {
      unpack<T>(from + run * kRunWords<T>, values);
      use(run, values);
    }
  };
  float mean = 0.0f;
  if (p.centers) {
    float sum = 0.0f;
    for_each_run([&](int, const float(&values)[kRun]) {
#pragma unroll
      for (int k = 0; k < kRun; ++k) sum += values[k];
    });
    mean = reduce_block(sum, scratch, Plus()) / depth;
  }
  float squares = 0.0f;
  for_each_run([&](int, const float(&values)[kRun]) {
#pragma unroll
    for (int k = 0; k < kRun; ++k) squares = fmaf(values[k] - mean, values[k] - mean, squares);
  });
  const float factor = 1.0f / sqrtf(reduce_block(squares, scratch, Plus()) / depth + p.epsilon);
  RunParameters parameters = first;
  for_each_run([&](int run, float(&values)[kRun]) {
    if (run != thread) parameters.load(p.args, run);
    parameters.normalize(mean, factor, values);
    pack<T>(values, to + run * kRunWords<T>);
  });
}

/// A warp's columns, a stage at a time.
template <class T, bool kPaired>
struct Stages {
  static constexpr int kRuns = kStageWords / kRunWords<T> / (kPaired ? 2 : 1);  ///< of a matrix, of a lane
  static constexpr int kSpan = 32 * kRuns;

  int place;  ///< the column, among those of all matrices
  int first = 0;

  __device__ __forceinline__ void advance(const Operands& p, int stride) {
    first += kSpan;
    if (first < p.runs) return;
    first = 0;
    place += stride;
  }

  /// Where word `k` of run `i` of the lane lies, in words from the beginning of the stage.
  static __device__ __forceinline__ int word(int i, int k) {
    return (i * kRunWords<T> + k) * kWarps * 32 + static_cast<int>(threadIdx.x);
  }

  /// Asks for the stage, and closes the group of its copies, which is empty after the last column.
  __device__ __forceinline__ void fetch(const Operands& p, uint32_t stage) const {
    if (place < p.all_columns) {
      const Column column(p, place);
      ask(p, column.of<T>(p.args.matrices[column.matrix].w, p.runs), stage, 0);
      if constexpr (kPaired) ask(p, column.of<T>(p.args.pair.w, p.runs), stage, kRuns);
    }
    ptx::commit_copies();
  }

 private:
  __device__ __forceinline__ void ask(const Operands& p, const uint4* w, uint32_t stage, int at) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kRuns; ++i) {
      if (first + i * 32 >= p.runs) break;
      const int run = first + i * 32 + lane;
#pragma unroll
      for (int k = 0; k < kRunWords<T>; ++k)
        ptx::copy16(stage + word(at + i, k) * 16, w + min(run, p.runs - 1) * kRunWords<T> + k, run < p.runs);
    }
  }
};

/// A lane's run of a row of x; zero beyond the depth.
template <class T>
__device__ __forceinline__ void load_run(const uint4* row, int run, int runs, float (&values)[kRun]) {
  uint4 words[kRunWords<T>];
#pragma unroll
  for (int k = 0; k < kRunWords<T>; ++k)
    words[k] = run < runs ? row[run * kRunWords<T> + k] : make_uint4(0, 0, 0, 0);
  unpack<T>(words, values);
}

}  // namespace

template <class T, class Result, int kRows, bool kPaired, int kStages>
__global__ void __launch_bounds__(kWarps * 32)
    matrix_vector_kernel(const __grid_constant__ Operands p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  using Place = Stages<T, kPaired>;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int stride = static_cast<int>(gridDim.x) * kWarps;
  const uint32_t ring = ptx::shared_address(memory);
  Place here{static_cast<int>(blockIdx.x) * kWarps + thread / 32};
  Place ahead = here;
#pragma unroll
  for (int s = 0; s < kStages; ++s) {
    ahead.fetch(p, ring + s * kStageBytes);
    ahead.advance(p, stride);
  }
  RunParameters parameters;
  if (p.normalizes) parameters.load(p.args, min(thread, p.runs - 1));
  ptx::wait_for_previous_kernel();
  const auto* x = static_cast<const uint4*>(p.args.x);
  const int row_words = p.runs * kRunWords<T>;
  if (p.keeps_rows) {
    unsigned char* const behind = memory + kStages * kStageBytes;
    auto* const rows = reinterpret_cast<uint4*>(behind + kScratchBytes);
    if (p.normalizes) {
      for (int r = 0; r < p.rows; ++r)
        normalize_row<T>(p, parameters, x + r * row_words, rows + r * row_words,
                         reinterpret_cast<float*>(behind));
    } else {
      for (int i = thread; i < p.rows * row_words; i += kWarps * 32) rows[i] = x[i];
    }
    __syncthreads();
    x = rows;
  }
  // Lane r finishes row r.
  const int row = min(lane, p.rows - 1);
  int stage = 0;
  while (here.place < p.all_columns) {
    const Column column(p, here.place);
    Biases biases;
    biases.load<kPaired>(p, column);
    const float fetched = fetched_operand<T>(p, row, column.number);
    Sums sums[kRows];
    Sums pair_sums[kRows];
    const int place = here.place;
    while (here.place == place) {
      ptx::wait_copies<kStages - 1>();
      const auto* const words = reinterpret_cast<const uint4*>(memory + stage * kStageBytes);
#pragma unroll
      for (int i = 0; i < Place::kRuns; ++i) {
        if (here.first + i * 32 >= p.runs) break;
        const int run = here.first + i * 32 + lane;
        uint4 of_run[kRunWords<T>];
        uint4 of_pair[kRunWords<T>];
#pragma unroll
        for (int k = 0; k < kRunWords<T>; ++k) {
          of_run[k] = words[Place::word(i, k)];
          if constexpr (kPaired) of_pair[k] = words[Place::word(Place::kRuns + i, k)];
        }
        float w[kRun];
        float pair_w[kRun];
        unpack<T>(of_run, w);
        if constexpr (kPaired) unpack<T>(of_pair, pair_w);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (r >= p.rows) break;
          float values[kRun];
          load_run<T>(x + static_cast<int64_t>(r) * row_words, run, p.runs, values);
          sums[r].add(w, values);
          if constexpr (kPaired) pair_sums[r].add(pair_w, values);
        }
      }
      ahead.fetch(p, ring + stage * kStageBytes);
      ahead.advance(p, stride);
      here.advance(p, stride);
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    float value = 0.0f;
    float pair = 0.0f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= p.rows) break;
      const float sum = reduce_warp(sums[r].value(), Plus());
      value = lane == r ? sum : value;
      if constexpr (kPaired) {
        const float pair_sum = reduce_warp(pair_sums[r].value(), Plus());
        pair = lane == r ? pair_sum : pair;
      }
    }
    if (lane < p.rows) finish<T, Result, kPaired>(p, column, lane, value, pair, biases, fetched);
  }
}

namespace {

/// The kernel for this number of rows.
template <class T, class Result, bool kPaired, int kStages>
const void* kernel_for(int rows) {
  if (rows <= 2) return kernel_address(&matrix_vector_kernel<T, Result, 2, kPaired, kStages>);
  if (rows <= 4) return kernel_address(&matrix_vector_kernel<T, Result, 4, kPaired, kStages>);
  return kernel_address(&matrix_vector_kernel<T, Result, 8, kPaired, kStages>);
}

/// Null where there is none of such types.
template <class T, int kStages>
const void* kernel_for(FloatType result, int rows, bool paired) {
  constexpr FloatType kOwn = std::is_same_v<T, float>    ? FloatType::kFloat
                             : std::is_same_v<T, __half> ? FloatType::kHalf
                                                         : FloatType::kBfloat16;
  if (result == kOwn)
    return paired ? kernel_for<T, T, true, kStages>(rows) : kernel_for<T, T, false, kStages>(rows);
  if (result == FloatType::kFloat && !paired) return kernel_for<T, float, false, kStages>(rows);
  return nullptr;
}

template <int kStages>
const void* kernel_for(FloatType type, FloatType result, int rows, bool paired) {
  switch (type) {
    case FloatType::kFloat: return kernel_for<float, kStages>(result, rows, paired);
    case FloatType::kHalf: return kernel_for<__half, kStages>(result, rows, paired);
    case FloatType::kBfloat16: return kernel_for<__nv_bfloat16, kStages>(result, rows, paired);
  }
  return nullptr;
}

/// The most bytes of rows and of their normalization: the oldest device has one stage of the ring more.
constexpr int64_t kMostRowBytes = (64 << 10) - kStageBytes;

int64_t row_bytes(const MatrixVector& size, FloatType type) {
  return kScratchBytes + size.rows * size.depth * static_cast<int64_t>(float_bytes(type));
}

/// The first step with an operand in memory.
int fetched_step(const MatrixVectorArgs& args) {
  for (int s = 0; s < args.step_count; ++s) {
    if (args.steps[s].operand != nullptr) return s;
  }
  return -1;
}

}  // namespace

int64_t MatrixVector::all_columns() const {
  int64_t all = 0;
  for (const int64_t count : columns) all += count;
  return all;
}

Refusal matrix_vector_refusal(const MatrixVector& size, FloatType type) {
  constexpr int64_t kMost = int64_t{1} << 28;
  if (size.rows < 1 || size.rows > MatrixVector::kMostRows)
    return std::to_string(size.rows) + " rows, not 1 to " + std::to_string(MatrixVector::kMostRows);
  if (size.depth < 1 || size.depth % kRun != 0)
    return "a depth of " + std::to_string(size.depth) + ", no multiple of " + std::to_string(kRun);
  if (size.columns[0] < 1 || size.all_columns() > kMost || size.depth > kMost)
    return "an empty or a huge matrix";
  if (size.normalizes && row_bytes(size, type) > kMostRowBytes)
    return "normalized rows do not fit into shared memory";
  return {};
}

cudaError_t matrix_vector(const MatrixVectorArgs& args, FloatType type, FloatType result,
                          const MatrixVector& size, const LaunchOptions& options) {
  const bool paired = size.paired_step >= 0;
  if (matrix_vector_refusal(size, type) || !is_aligned(args.x)) return cudaErrorInvalidValue;
  Operands operands{args,
                    static_cast<int>(size.rows),
                    static_cast<int>(size.depth / kRun),
                    {},
                    static_cast<int>(size.all_columns()),
                    size.alpha,
                    row_bytes(size, type) <= kMostRowBytes,
                    size.normalizes,
                    size.centers,
                    size.epsilon,
                    static_cast<int>(size.rows_of_image),
                    size.paired_step,
                    fetched_step(args),
                    options.next_waits,
                    1,
                    0};
  for (int m = 0; m < MatrixVector::kMostMatrices; ++m) {
    operands.columns[m] = static_cast<int>(size.columns[m]);
    if (size.columns[m] > 0 && !is_aligned(args.matrices[m].w)) return cudaErrorInvalidValue;
    if (m > 0 && size.columns[m] > 0 && args.step_count > 0) return cudaErrorInvalidValue;
  }
  if (fits_single_row(size)) return launch_single_row(operands, type, result, size, options);
  // A GPU without room for the whole ring gets one of a single stage.
  const int64_t own_bytes = operands.keeps_rows ? row_bytes(size, type) : 0;
  const bool fits = own_bytes + kMostStages * kStageBytes <= options.device->shared_memory;
  GemmLaunch launch;
  launch.function = fits ? kernel_for<kMostStages>(type, result, operands.rows, paired)
                         : kernel_for<1>(type, result, operands.rows, paired);
  if (launch.function == nullptr) return cudaErrorInvalidValue;
  launch.threads = kWarps * 32;
  launch.shared_bytes = own_bytes + (fits ? kMostStages : 1) * kStageBytes;
  // No more than run at once: the others would ask for their first columns late.
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, *options.device, resident); error != cudaSuccess)
    return error;
  launch.blocks =
      std::clamp<int64_t>((operands.all_columns + kWarps - 1) / kWarps, 1, std::max<int64_t>(resident, 1));
  return launch_gemm(launch, &operands, options);
}

}  // namespace hone::device::cuda
