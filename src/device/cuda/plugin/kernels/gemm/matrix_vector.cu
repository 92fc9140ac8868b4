// See matrix_vector.hpp. A warp makes one column of the result after another: its lanes have runs of eight
// elements of the depth, 32 apart, and add up what they have at the end. The first part of the next column is
// on its way by then.
//
//   w  [column]  run 0 | run 1 | ... | run 31 | run 32 | ...        first part asked for, then
//                lane 0  lane 1        lane 31  lane 0              the kernel ahead is waited for
//   x  [row]     as it lies in memory, or normalized into shared memory by the whole block
#include "device/cuda/plugin/kernels/gemm/matrix_vector.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/reduce.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kWarps = 8;
/// Elements that a lane takes at once.
constexpr int kRun = 8;
/// In front of normalized rows: what warps have of sums.
constexpr int kScratchBytes = 128;

struct Operands {
  MatrixVectorArgs args;
  int rows;
  int runs;  ///< of kRun elements, in the depth
  int columns[MatrixVector::kMostMatrices];
  int all_columns;
  float alpha;
  bool normalizes;
  bool centers;
  float epsilon;
  int rows_of_image;
  int paired_step;
  /// The step whose operand is fetched before the products, -1 for none.
  int fetched_step;
  bool next_waits;
};

/// A lane's runs of a column of w, or of a row of x, 32 apart. Zero beyond the depth.
template <class T, int kAhead>
struct Runs {
  static constexpr int kSpan = 32 * kAhead;  ///< of a warp
  uint4 words[kAhead][kRunWords<T>];

  /// `kConstant`: nobody writes them while the kernel runs, nor shortly before.
  template <bool kConstant>
  __device__ __forceinline__ void load(const uint4* from, int first, int count) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int run = first + i * 32;
#pragma unroll
      for (int k = 0; k < kRunWords<T>; ++k) {
        const uint4* const word = from + run * kRunWords<T> + k;
        words[i][k] = run >= count ? make_uint4(0, 0, 0, 0) : kConstant ? __ldg(word) : *word;
      }
    }
  }
};

template <class T, int kAhead>
__device__ __forceinline__ float add_products(const Runs<T, kAhead>& a, const Runs<T, kAhead>& b, float sum) {
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    float left[kRun];
    float right[kRun];
    unpack<T>(a.words[i], left);
    unpack<T>(b.words[i], right);
#pragma unroll
    for (int k = 0; k < kRun; ++k) sum = fmaf(left[k], right[k], sum);
  }
  return sum;
}

/// The parameters of a normalization for one run.
struct RunParameters {
  float scale[kRun];
  float shift[kRun];

  __device__ __forceinline__ void load(const MatrixVectorArgs& args, int run) {
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      scale[k] = 1.0f;
      shift[k] = 0.0f;
    }
    if (args.scale != nullptr) load_floats<kRun>(args.scale + run * kRun, scale);
    if (args.shift != nullptr) load_floats<kRun>(args.shift + run * kRun, shift);
  }
};

/// A row as it is normalized, by all threads of the block; `first` are the parameters of a thread's first
/// run.
template <class T>
__device__ __forceinline__ void normalize_row(const Operands& p, const RunParameters& first,
                                              const uint4* from, uint4* to, float* scratch) {
  constexpr int kThreadsOfBlock = kWarps * 32;
  const int thread = static_cast<int>(threadIdx.x);
  const auto depth = static_cast<float>(p.runs * kRun);
  float values[kRun];
  float mean = 0.0f;
  if (p.centers) {
    float sum = 0.0f;
    for (int run = thread; run < p.runs; run += kThreadsOfBlock) {
      unpack<T>(from + run * kRunWords<T>, values);
#pragma unroll
      for (int k = 0; k < kRun; ++k) sum += values[k];
    }
    mean = reduce_block(sum, scratch, Plus()) / depth;
  }
  float squares = 0.0f;
  for (int run = thread; run < p.runs; run += kThreadsOfBlock) {
    unpack<T>(from + run * kRunWords<T>, values);
#pragma unroll
    for (int k = 0; k < kRun; ++k) squares = fmaf(values[k] - mean, values[k] - mean, squares);
  }
  const float factor = 1.0f / sqrtf(reduce_block(squares, scratch, Plus()) / depth + p.epsilon);
  RunParameters parameters = first;
  for (int run = thread; run < p.runs; run += kThreadsOfBlock) {
    if (run != thread) parameters.load(p.args, run);
    unpack<T>(from + run * kRunWords<T>, values);
#pragma unroll
    for (int k = 0; k < kRun; ++k)
      values[k] = fmaf((values[k] - mean) * factor, parameters.scale[k], parameters.shift[k]);
    pack<T>(values, to + run * kRunWords<T>);
  }
}

template <class T>
__device__ __forceinline__ float step_operand(const Operands& p, const EpilogueStep& step, int row,
                                              int column) {
  int64_t at = column;
  if (step.shape == OperandShape::kFull) at += static_cast<int64_t>(row) * p.columns[0];
  if (step.shape == OperandShape::kPerImageChannel)
    at += static_cast<int64_t>(row / p.rows_of_image) * p.columns[0];
  return to_float(static_cast<const T*>(step.operand)[at]);
}

__device__ __forceinline__ float apply_binary(graph::PostOp op, float value, float operand) {
  if (op == graph::PostOp::kAdd) return value + operand;
  return op == graph::PostOp::kMul ? value * operand : value - operand;
}

/// A column among those of all matrices.
struct Column {
  int matrix = 0;
  int number;

  __device__ __forceinline__ Column(const Operands& p, int of_all) : number(of_all) {
#pragma unroll
    for (int m = 0; m + 1 < MatrixVector::kMostMatrices; ++m) {
      if (matrix != m || number < p.columns[m]) continue;
      number -= p.columns[m];
      matrix = m + 1;
    }
  }

  template <class T>
  __device__ __forceinline__ const uint4* of(const void* w, int runs) const {
    return static_cast<const uint4*>(w) + static_cast<int64_t>(number) * (runs * kRunWords<T>);
  }
};

__device__ __forceinline__ float bias_of(const MatrixVectorArgs::Matrix& matrix, int column) {
  return matrix.bias == nullptr ? 0.0f : __ldg(matrix.bias + column);
}

}  // namespace

template <class T, class Result, int kRows, bool kPaired>
__global__ void __launch_bounds__(kWarps * 32)
    matrix_vector_kernel(const __grid_constant__ Operands p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int stride = static_cast<int>(gridDim.x) * kWarps;
  int place = static_cast<int>(blockIdx.x) * kWarps + thread / 32;
  // 128 bytes of each lane on their way at once.
  using Part = Runs<T, (kPaired ? 4 : 8) / kRunWords<T>>;
  Column column(p, min(place, p.all_columns - 1));
  Part part;
  Part pair_part;
  part.template load<true>(column.of<T>(p.args.matrices[column.matrix].w, p.runs), lane, p.runs);
  if constexpr (kPaired) pair_part.template load<true>(column.of<T>(p.args.pair.w, p.runs), lane, p.runs);
  RunParameters parameters;
  if (p.normalizes) parameters.load(p.args, min(thread, p.runs - 1));
  ptx::wait_for_previous_kernel();
  const auto* x = static_cast<const uint4*>(p.args.x);
  const int row_words = p.runs * kRunWords<T>;
  if (p.normalizes) {
    auto* const rows = reinterpret_cast<uint4*>(memory + kScratchBytes);
    for (int r = 0; r < p.rows; ++r)
      normalize_row<T>(p, parameters, x + r * row_words, rows + r * row_words,
                       reinterpret_cast<float*>(memory));
    __syncthreads();
    x = rows;
  }
  // Lane r finishes row r.
  const int row = min(lane, p.rows - 1);
  for (; place < p.all_columns; place += stride) {
    const bool is_last = place + stride >= p.all_columns;
    const Column following(p, is_last ? place : place + stride);
    const MatrixVectorArgs::Matrix of = p.args.matrices[column.matrix];
    const uint4* const w = column.of<T>(of.w, p.runs);
    const uint4* const pair_w = column.of<T>(p.args.pair.w, p.runs);
    const float bias = bias_of(of, column.number);
    const float pair_bias = kPaired ? bias_of(p.args.pair, column.number) : 0.0f;
    const float fetched =
        p.fetched_step < 0 ? 0.0f : step_operand<T>(p, p.args.steps[p.fetched_step], row, column.number);
    float sums[kRows] = {};
    float pair_sums[kRows] = {};
    for (int first = lane; first - lane < p.runs; first += Part::kSpan) {
      // The next part of this column, or the first one of the next column.
      const bool ends = first - lane + Part::kSpan >= p.runs;
      const int next_run = ends ? lane : first + Part::kSpan;
      const int runs = ends && is_last ? 0 : p.runs;
      Part next;
      Part pair_next;
      next.template load<true>(ends ? following.of<T>(p.args.matrices[following.matrix].w, p.runs) : w,
                               next_run, runs);
      if constexpr (kPaired)
        pair_next.template load<true>(ends ? following.of<T>(p.args.pair.w, p.runs) : pair_w, next_run, runs);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (r >= p.rows) break;
        Part values;
        values.template load<false>(x + static_cast<int64_t>(r) * row_words, first, p.runs);
        sums[r] = add_products(part, values, sums[r]);
        if constexpr (kPaired) pair_sums[r] = add_products(pair_part, values, pair_sums[r]);
      }
      part = next;
      if constexpr (kPaired) pair_part = pair_next;
    }
    float value = 0.0f;
    float pair = 0.0f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= p.rows) break;
      const float sum = reduce_warp(sums[r], Plus());
      value = lane == r ? sum : value;
      if constexpr (kPaired) {
        const float pair_sum = reduce_warp(pair_sums[r], Plus());
        pair = lane == r ? pair_sum : pair;
      }
    }
    if (lane < p.rows) {
      value = fmaf(p.alpha, value, bias);
      if constexpr (kPaired) {
        pair += pair_bias;
        for (int s = 0; s < p.args.pair_step_count; ++s) {
          const EpilogueStep& step = p.args.pair_steps[s];
          pair = apply_unary(step.op, step.alpha, step.beta, pair);
        }
      }
#pragma unroll 1
      for (int s = 0; s < p.args.step_count; ++s) {
        const EpilogueStep& step = p.args.steps[s];
        if (kPaired && s == p.paired_step) {
          value = apply_binary(step.op, value, pair);
        } else if (step.operand == nullptr) {
          value = apply_unary(step.op, step.alpha, step.beta, value);
        } else {
          value = apply_binary(step.op, value,
                               s == p.fetched_step ? fetched : step_operand<T>(p, step, row, column.number));
        }
      }
      static_cast<Result*>(of.y)[static_cast<int64_t>(lane) * p.columns[column.matrix] + column.number] =
          from_float<Result>(value);
    }
    column = following;
  }
}

namespace {

/// The kernel for so many rows.
template <class T, class Result, bool kPaired>
const void* kernel_for(int rows) {
  if (rows == 1) return kernel_address(&matrix_vector_kernel<T, Result, 1, kPaired>);
  if (rows <= 2) return kernel_address(&matrix_vector_kernel<T, Result, 2, kPaired>);
  if (rows <= 4) return kernel_address(&matrix_vector_kernel<T, Result, 4, kPaired>);
  return kernel_address(&matrix_vector_kernel<T, Result, 8, kPaired>);
}

/// Null where there is none of such types.
template <class T>
const void* kernel_for(FloatType type, FloatType result, int rows, bool paired) {
  if (result == type) return paired ? kernel_for<T, T, true>(rows) : kernel_for<T, T, false>(rows);
  if (result == FloatType::kFloat && !paired) return kernel_for<T, float, false>(rows);
  return nullptr;
}

int64_t shared_bytes(const MatrixVector& size, FloatType type) {
  if (!size.normalizes) return 0;
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
  // What every device has for a block without asking.
  constexpr int64_t kSharedBytes = 48 << 10;
  if (shared_bytes(size, type) > kSharedBytes) return "normalized rows do not fit into shared memory";
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
                    size.normalizes,
                    size.centers,
                    size.epsilon,
                    static_cast<int>(size.rows_of_image),
                    size.paired_step,
                    fetched_step(args),
                    options.next_waits};
  for (int m = 0; m < MatrixVector::kMostMatrices; ++m) {
    operands.columns[m] = static_cast<int>(size.columns[m]);
    if (size.columns[m] > 0 && !is_aligned(args.matrices[m].w)) return cudaErrorInvalidValue;
    if (m > 0 && size.columns[m] > 0 && args.step_count > 0) return cudaErrorInvalidValue;
  }
  GemmLaunch launch;
  switch (type) {
    case FloatType::kFloat: launch.function = kernel_for<float>(type, result, operands.rows, paired); break;
    case FloatType::kHalf: launch.function = kernel_for<__half>(type, result, operands.rows, paired); break;
    case FloatType::kBfloat16:
      launch.function = kernel_for<__nv_bfloat16>(type, result, operands.rows, paired);
      break;
  }
  if (launch.function == nullptr) return cudaErrorInvalidValue;
  launch.threads = kWarps * 32;
  launch.shared_bytes = shared_bytes(size, type);
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, *options.device, resident); error != cudaSuccess)
    return error;
  // Each block with as many columns as any other, where they do not run all at once.
  const int64_t blocks = (operands.all_columns + kWarps - 1) / kWarps;
  const int64_t turns = (blocks + resident - 1) / std::max<int64_t>(resident, 1);
  launch.blocks = (blocks + turns - 1) / turns;
  return launch_gemm(launch, &operands, options);
}

}  // namespace hone::device::cuda
