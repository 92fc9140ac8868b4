// Convolutions and matrix products of 8-bit integers with loops of ours, for any CPU. oneDNN multiplies bytes
// in 16 bits where there is no VNNI, and those saturate; here both operands are widened to 16 bits first, so
// that two products are added in 32 bits by one instruction (pmaddwd) and every sum is exact.
//
//     a: rows x inner, less its zero point       b: columns x inner, as it is        sums: rows x columns
//     ┌──────────────┐                           ┌──────────────┐
//     │ 16 rows at a │   x  transposed           │ weights, or  │            =      dot products of rows,
//     │ time         │                           │ b transposed │                   4 x 2 at a time
//     └──────────────┘                           └──────────────┘
//
// Rows of a convolution are the windows of its output pixels, zeros where padding is. The zero point of b
// comes off at the end: sum((a - za) (b - zb)) = sum((a - za) b) - zb sum(a - za).
#include <omp.h>

#include <algorithm>
#include <array>

#include "device/cpu/clones.hpp"
#include "device/cpu/packed_form.hpp"
#include "device/cpu/quantize_math.hpp"
#include "device/cpu/quantized/operands.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"
#include "graph/matmul_geometry.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;
using tensor::Tensor;
using Positions = BytePositions;

/// Rows that a task sums together, and rows and columns of a tile.
constexpr int64_t kTaskRows = 16;
constexpr int64_t kRows = 4;
constexpr int64_t kColumns = 2;
/// Multiplications that are worth a second thread.
constexpr int64_t kWorthThreads = 1 << 16;
/// The number of products of 255 * 255, the largest, whose sum fits into 31 bits.
constexpr int64_t kMostTerms = (int64_t{1} << 31) / (255 * 255) - 1;

/// sums[r][c] = a[r] · b[c], rows `inner` apart.
HONE_CLONES void multiply_two(const int16_t* __restrict a, const int16_t* __restrict b, int64_t inner,
                              int32_t* __restrict sums) {
  const int16_t* const a1 = a + inner;
  const int16_t* const a2 = a1 + inner;
  const int16_t* const a3 = a2 + inner;
  const int16_t* const b1 = b + inner;
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0, s20 = 0, s21 = 0, s30 = 0, s31 = 0;
  for (int64_t k = 0; k < inner; ++k) {
    s00 += a[k] * b[k];
    s01 += a[k] * b1[k];
    s10 += a1[k] * b[k];
    s11 += a1[k] * b1[k];
    s20 += a2[k] * b[k];
    s21 += a2[k] * b1[k];
    s30 += a3[k] * b[k];
    s31 += a3[k] * b1[k];
  }
  const std::array<int32_t, kRows* kColumns> all = {s00, s01, s10, s11, s20, s21, s30, s31};
  std::copy(all.begin(), all.end(), sums);
}

/// The same of the last column, where there is an odd number of them.
HONE_CLONES void multiply_one(const int16_t* __restrict a, const int16_t* __restrict b, int64_t inner,
                              int32_t* __restrict sums) {
  const int16_t* const a1 = a + inner;
  const int16_t* const a2 = a1 + inner;
  const int16_t* const a3 = a2 + inner;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t k = 0; k < inner; ++k) {
    s0 += a[k] * b[k];
    s1 += a1[k] * b[k];
    s2 += a2[k] * b[k];
    s3 += a3[k] * b[k];
  }
  const std::array<int32_t, kRows* kColumns> all = {s0, 0, s1, 0, s2, 0, s3, 0};
  std::copy(all.begin(), all.end(), sums);
}

/// to[i] = from[i] - zero.
HONE_CLONES void widen(const uint8_t* __restrict from, int32_t zero, int16_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
}
HONE_CLONES void widen(const int8_t* __restrict from, int32_t zero, int16_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
}

HONE_CLONES int32_t sum_of(const int16_t* x, int64_t n) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

/// floats[i] = (sums[i] + bias) * scale.
HONE_CLONES void scale_row(const int32_t* __restrict sums, int32_t bias, float scale,
                           float* __restrict floats, int64_t n) {
  for (int64_t i = 0; i < n; ++i) floats[i] = static_cast<float>(sums[i] + bias) * scale;
}
HONE_CLONES void scale_each(const int32_t* __restrict sums, const float* __restrict scales,
                            float* __restrict floats, int64_t n) {
  for (int64_t i = 0; i < n; ++i) floats[i] = static_cast<float>(sums[i]) * scales[i];
}

template <class F>
void with_bytes(DType dtype, const void* data, F&& f) {
  if (dtype == DType::kUInt8) return f(static_cast<const uint8_t*>(data));
  f(static_cast<const int8_t*>(data));
}

int32_t byte_at(DType dtype, const void* data, int64_t index) {
  return dtype == DType::kUInt8 ? int32_t{static_cast<const uint8_t*>(data)[index]}
                                : int32_t{static_cast<const int8_t*>(data)[index]};
}

/// Stacks of products of `rows` x `inner` with `inner` x `columns`.
struct Problem {
  bool is_convolution = false;
  graph::Convolution convolution;
  /// For each stack, the index of its operands' matrices.
  std::vector<int64_t> a_matrix;
  std::vector<int64_t> b_matrix;
  int64_t b_matrices = 0;
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  DType a_type = DType::kUInt8;
  DType b_type = DType::kInt8;

  int64_t b_elements() const { return b_matrices * columns * inner; }
};

Problem convolution_problem(const StepRequest& request, const Positions& at) {
  Problem problem;
  problem.is_convolution = true;
  const graph::Convolution& geometry = problem.convolution = graph::read_convolution(
      request.node.attributes, request.inputs[at.a].shape, request.inputs[at.b].shape);
  problem.b_matrices = geometry.group;
  for (int64_t image = 0; image < geometry.batch; ++image) {
    for (int64_t group = 0; group < geometry.group; ++group) {
      problem.a_matrix.push_back(image);
      problem.b_matrix.push_back(group);
    }
  }
  problem.rows = 1;
  for (const graph::WindowAxis& axis : geometry.axes) problem.rows *= axis.output;
  problem.inner = geometry.group_inputs() * geometry.kernel_size();
  problem.columns = geometry.group_outputs();
  return problem;
}

Problem matrix_problem(const StepRequest& request, const Positions& at) {
  const graph::MatMulGeometry geometry =
      graph::read_matmul(request.inputs[at.a].shape, request.inputs[at.b].shape);
  Problem problem;
  problem.a_matrix = geometry.a_matrix;
  problem.b_matrix = geometry.b_matrix;
  problem.rows = geometry.rows;
  problem.inner = geometry.inner;
  problem.columns = geometry.columns;
  problem.b_matrices = tensor::element_count(request.inputs[at.b].shape) /
                       std::max<int64_t>(1, geometry.inner * geometry.columns);
  return problem;
}

/// The second operand in 16 bits: matrix by matrix, the columns one after the other.
void widen_second(const Problem& problem, const void* from, int16_t* to) {
  with_bytes(problem.b_type, from, [&](const auto* bytes) {
    if (problem.is_convolution) return widen(bytes, 0, to, problem.b_elements());
    for (int64_t matrix = 0; matrix < problem.b_matrices; ++matrix) {
      const int64_t first = matrix * problem.inner * problem.columns;
      for (int64_t k = 0; k < problem.inner; ++k) {
        for (int64_t c = 0; c < problem.columns; ++c)
          to[first + c * problem.inner + k] = bytes[first + k * problem.columns + c];
      }
    }
  });
}

/// How sums become bytes; no scales for sums that stay int32.
struct Requantization {
  /// One for each column of all groups.
  std::vector<float> scales;
  float zero_point = 0;
  DType dtype = DType::kInt32;
};

class IntegerSumsKernel final : public engine::Kernel {
 public:
  /// `packed`: the second operand in 16 bits; null where it is computed.
  IntegerSumsKernel(Problem problem, const Positions& at, Requantization requantization,
                    const int16_t* packed, int64_t b_zeros)
      : problem_(std::move(problem)),
        at_(at),
        requantization_(std::move(requantization)),
        packed_(packed),
        b_zeros_(b_zeros),
        threads_(omp_get_max_threads()) {
    const int64_t padded = (problem_.columns + 1) / 2 * 2;
    size_ = {kTaskRows * problem_.inner * 2, kTaskRows * padded * 4, kTaskRows * 4,
             std::max(kTaskRows, problem_.columns) * 4};
    for (int64_t& bytes : size_) bytes = (bytes + 63) / 64 * 64;
  }

  int64_t scratch_bytes() const { return b_bytes() + threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    auto* const scratch = static_cast<std::byte*>(run.scratch);
    const int16_t* b = packed_;
    if (b == nullptr) {
      widen_second(problem_, run.inputs[at_.b], reinterpret_cast<int16_t*>(scratch));
      b = reinterpret_cast<const int16_t*>(scratch);
    }
    const int64_t parts = (problem_.rows + kTaskRows - 1) / kTaskRows;
    const auto tasks = static_cast<int64_t>(problem_.a_matrix.size()) * parts;
    const bool parallel = tasks * kTaskRows * problem_.inner * problem_.columns > kWorthThreads;
    in_shares(tasks, threads_, parallel, [&](int64_t begin, int64_t end, int64_t thread) {
      const Memory memory = memory_at(scratch + b_bytes() + thread * thread_bytes());
      for (int64_t task = begin; task < end; ++task)
        run_task(run, b, static_cast<size_t>(task / parts), task % parts * kTaskRows, memory);
    });
  }

 private:
  /// Scratch memory for one thread.
  struct Memory {
    int16_t* rows;
    int32_t* sums;
    int32_t* row_sums;
    float* floats;
  };

  int64_t b_bytes() const { return packed_ != nullptr ? 0 : (problem_.b_elements() * 2 + 63) / 64 * 64; }
  int64_t thread_bytes() const { return size_[0] + size_[1] + size_[2] + size_[3]; }
  Memory memory_at(std::byte* at) const {
    return {reinterpret_cast<int16_t*>(at), reinterpret_cast<int32_t*>(at + size_[0]),
            reinterpret_cast<int32_t*>(at + size_[0] + size_[1]),
            reinterpret_cast<float*>(at + size_[0] + size_[1] + size_[2])};
  }
  bool has(const engine::Run& run, size_t input) const {
    return input < run.inputs.size() && run.inputs[input] != nullptr;
  }

  void run_task(const engine::Run& run, const int16_t* b, size_t stack, int64_t first,
                const Memory& memory) const {
    const int64_t count = std::min(kTaskRows, problem_.rows - first);
    const int32_t zero = has(run, at_.a_zero) ? byte_at(problem_.a_type, run.inputs[at_.a_zero], 0) : 0;
    with_bytes(problem_.a_type, run.inputs[at_.a], [&](const auto* a) {
      if (problem_.is_convolution) {
        for (int64_t r = 0; r < count; ++r)
          copy_window(a, stack, first + r, zero, memory.rows + r * problem_.inner);
      } else {
        const int64_t row = problem_.a_matrix[stack] * problem_.rows + first;
        widen(a + row * problem_.inner, zero, memory.rows, count * problem_.inner);
      }
    });
    const int64_t tall = (count + kRows - 1) / kRows * kRows;
    std::fill_n(memory.rows + count * problem_.inner, (tall - count) * problem_.inner, int16_t{0});
    const bool shifts = has(run, at_.b_zero);
    for (int64_t r = 0; shifts && r < count; ++r)
      memory.row_sums[r] = sum_of(memory.rows + r * problem_.inner, problem_.inner);
    const int16_t* const columns = b + problem_.b_matrix[stack] * problem_.columns * problem_.inner;
    const int64_t column = problem_.is_convolution ? problem_.b_matrix[stack] * problem_.columns : 0;
    for (int64_t c = 0; c < problem_.columns; c += kColumns) {
      const auto multiply = c + 1 < problem_.columns ? multiply_two : multiply_one;
      for (int64_t r = 0; r < tall; r += kRows) {
        int32_t sums[kRows * kColumns];
        multiply(memory.rows + r * problem_.inner, columns + c * problem_.inner, problem_.inner, sums);
        for (int64_t i = 0; i < kRows; ++i) {
          for (int64_t j = 0; j < std::min(kColumns, problem_.columns - c); ++j)
            memory.sums[place(r + i, c + j)] =
                sums[i * kColumns + j] - (shifts ? memory.row_sums[r + i] * b_zero(run, column + c + j) : 0);
        }
      }
    }
    store(run, stack, first, count, memory);
  }

  /// Sums of an image lie channel by channel, those of matrices row by row, as results do.
  int64_t place(int64_t row, int64_t column) const {
    return problem_.is_convolution ? column * kTaskRows + row : row * problem_.columns + column;
  }

  int32_t b_zero(const engine::Run& run, int64_t column) const {
    return byte_at(problem_.b_type, run.inputs[at_.b_zero], b_zeros_ == 1 ? 0 : column);
  }

  /// The window of an output pixel, channel by channel.
  template <class T>
  void copy_window(const T* a, size_t stack, int64_t pixel, int32_t zero, int16_t* to) const {
    const graph::Convolution& geometry = problem_.convolution;
    constexpr size_t kMostAxes = 3;
    const size_t missing = kMostAxes - geometry.axes.size();
    std::array<graph::WindowAxis, kMostAxes> axes;
    axes.fill({1, 1});
    std::copy(geometry.axes.begin(), geometry.axes.end(), axes.begin() + static_cast<int64_t>(missing));
    const std::array<int64_t, kMostAxes> at = {pixel / (axes[1].output * axes[2].output),
                                               pixel / axes[2].output % axes[1].output,
                                               pixel % axes[2].output};
    const int64_t plane = axes[0].input * axes[1].input * axes[2].input;
    const int64_t first =
        problem_.a_matrix[stack] * geometry.in_channels + problem_.b_matrix[stack] * geometry.group_inputs();
    for (int64_t c = 0; c < geometry.group_inputs(); ++c) {
      const T* const image = a + (first + c) * plane;
      for (int64_t i = 0; i < axes[0].kernel; ++i) {
        const int64_t z = axes[0].position(at[0], i);
        for (int64_t j = 0; j < axes[1].kernel; ++j) {
          const int64_t y = axes[1].position(at[1], j);
          const bool inside = z >= 0 && z < axes[0].input && y >= 0 && y < axes[1].input;
          const T* const line = image + (z * axes[1].input + y) * axes[2].input;
          for (int64_t k = 0; k < axes[2].kernel; ++k) {
            const int64_t x = axes[2].position(at[2], k);
            const bool is_pixel = inside && x >= 0 && x < axes[2].input;
            *to++ = is_pixel ? static_cast<int16_t>(line[x] - zero) : int16_t{0};
          }
        }
      }
    }
  }

  void store(const engine::Run& run, size_t stack, int64_t first, int64_t count, const Memory& memory) const {
    if (!problem_.is_convolution) {
      const int64_t to = (static_cast<int64_t>(stack) * problem_.rows + first) * problem_.columns;
      if (requantization_.scales.empty()) {
        std::copy_n(memory.sums, count * problem_.columns, static_cast<int32_t*>(run.outputs[0]) + to);
        return;
      }
      for (int64_t r = 0; r < count; ++r) {
        scale_each(memory.sums + r * problem_.columns, requantization_.scales.data(), memory.floats,
                   problem_.columns);
        round(memory.floats, run.outputs[0], to + r * problem_.columns, problem_.columns);
      }
      return;
    }
    const int64_t channels = problem_.convolution.out_channels;
    for (int64_t c = 0; c < problem_.columns; ++c) {
      const int64_t channel = problem_.b_matrix[stack] * problem_.columns + c;
      const int64_t to = (problem_.a_matrix[stack] * channels + channel) * problem_.rows + first;
      const int32_t* const sums = memory.sums + c * kTaskRows;
      if (requantization_.scales.empty()) {
        std::copy_n(sums, count, static_cast<int32_t*>(run.outputs[0]) + to);
        continue;
      }
      const int32_t bias =
          has(run, at_.bias) ? static_cast<const int32_t*>(run.inputs[at_.bias])[channel] : 0;
      scale_row(sums, bias, requantization_.scales[static_cast<size_t>(channel)], memory.floats, count);
      round(memory.floats, run.outputs[0], to, count);
    }
  }

  void round(const float* floats, void* result, int64_t at, int64_t count) const {
    const auto n = static_cast<size_t>(count);
    if (requantization_.dtype == DType::kUInt8) {
      quantize_row(floats, 1, requantization_.zero_point, static_cast<uint8_t*>(result) + at, n);
    } else {
      quantize_row(floats, 1, requantization_.zero_point, static_cast<int8_t*>(result) + at, n);
    }
  }

  Problem problem_;
  Positions at_;
  Requantization requantization_;
  const int16_t* packed_;
  int64_t b_zeros_;
  int64_t threads_;
  /// Bytes of each part of Memory.
  std::array<int64_t, 4> size_{};
};

PackedConstant pack_second(const StepRequest& request, const Problem& problem, size_t input,
                           engine::WeightStore& weights) {
  const std::string word = fmt::format("i16:{}x{}x{}", problem.b_matrices, problem.columns, problem.inner);
  const auto bytes = static_cast<size_t>(2 * problem.b_elements());
  return packed_form(request, input, word, bytes, weights, [&](const Tensor& constant, std::byte* to) {
    widen_second(problem, constant.bytes(), reinterpret_cast<int16_t*>(to));
  });
}

/// Fills it in for an operator that rounds its sums.
Refusal read_scales(const StepRequest& request, const Positions& at, int64_t columns,
                    Requantization& requantization) {
  if (at.y_scale == Positions::kNone) return {};
  const Tensor* const a_scale = constant_input(request, at.a_scale);
  const Tensor* const b_scale = constant_input(request, at.b_scale);
  const Tensor* const y_scale = constant_input(request, at.y_scale);
  const Tensor* const y_zero = constant_input(request, at.y_zero);
  if (a_scale == nullptr || b_scale == nullptr || y_scale == nullptr || y_zero == nullptr)
    return "scales or the result's zero point are computed";
  const bool fits = b_scale->size() == 1 || (b_scale->rank() == 1 && b_scale->size() == columns);
  if (a_scale->size() != 1 || y_scale->size() != 1 || y_zero->size() != 1 || !fits) return "scales of rows";
  const auto scales = b_scale->to_double();
  for (int64_t c = 0; c < columns; ++c) {
    const double scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(c)];
    requantization.scales.push_back(
        static_cast<float>(a_scale->to_double()[0] * scale / y_scale->to_double()[0]));
  }
  requantization.zero_point = static_cast<float>(y_zero->to_double()[0]);
  requantization.dtype = request.outputs[0].dtype;
  return {};
}

Offer offer_sums(const StepRequest& request, engine::WeightStore& weights) {
  const bool rounds = request.node.op.starts_with("QLinear");
  const Positions& at = rounds ? kQuantizedPositions : kSumPositions;
  const bool is_convolution = request.node.op.starts_with("Conv") || request.node.op == "QLinearConv";
  if (is_convolution && request.inputs[at.a].shape.size() > 5) return Offer::refuse("more than three axes");
  Problem problem = is_convolution ? convolution_problem(request, at) : matrix_problem(request, at);
  problem.a_type = request.inputs[at.a].dtype;
  problem.b_type = request.inputs[at.b].dtype;
  if (!is_byte(problem.a_type) || !is_byte(problem.b_type)) return Offer::refuse("only bytes");
  if (problem.inner == 0) return Offer::refuse("an operand is empty");
  if (problem.inner > kMostTerms) return Offer::refuse("its sums may be beyond 32 bits");
  const auto count_of = [&](size_t input) {
    return request.node.has_input(input) ? tensor::element_count(request.inputs[input].shape) : 1;
  };
  if (count_of(at.a_zero) != 1) return Offer::refuse("several zero points of the first operand");
  const int64_t columns = is_convolution ? problem.convolution.out_channels : problem.columns;
  const int64_t b_zeros = count_of(at.b_zero);
  const bool of_columns =
      b_zeros == columns && request.node.has_input(at.b_zero) && request.inputs[at.b_zero].shape.size() == 1;
  if (b_zeros != 1 && !of_columns) return Offer::refuse("zero points of other parts than columns");
  Requantization requantization;
  if (Refusal reason = read_scales(request, at, columns, requantization))
    return Offer::refuse(std::move(reason));
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.node.has_input(i))
      offer.inputs.push_back({request.inputs[i].dtype, request.inputs[i].shape, Layout::kPlain});
    else
      offer.inputs.emplace_back();
  }
  offer.outputs = {{request.outputs[0].dtype, request.outputs[0].shape, Layout::kPlain}};
  const int16_t* packed = nullptr;
  if (request.graph.value(request.node.inputs[at.b]).constant) {
    const PackedConstant constant = pack_second(request, problem, at.b, weights);
    packed = static_cast<const int16_t*>(constant.data);
    offer.packed = {constant.key};
    offer.inputs[at.b] = {};
  }
  auto kernel =
      std::make_shared<IntegerSumsKernel>(std::move(problem), at, std::move(requantization), packed, b_zeros);
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_integer_sums_tactics(TacticList& list) {
  list.push_back({.name = "integer_sums",
                  .operators = {"ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_sums});
}

}  // namespace hone::device::cpu
