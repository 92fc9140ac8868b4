// The plain convolution that the implicit GEMM is compared with, and the comparison.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"
#include "gpu_or_skip.hpp"

namespace hone::device::cuda::check {

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "FAILED %s: %s\n", what, cudaGetErrorString(error));
  std::exit(kFailed);
}
#define HONE_MUST(call) ::hone::device::cuda::check::must((call), #call)

/// Device memory of one allocation.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { HONE_MUST(cudaMalloc(&data_, count * sizeof(T))); }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    HONE_MUST(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(Buffer&& other) noexcept : data_(other.data_), count_(other.count_) { other.data_ = nullptr; }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  T* get() const { return static_cast<T*>(data_); }
  size_t count() const { return count_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    HONE_MUST(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  void* data_ = nullptr;
  size_t count_;
};

template <class T>
struct ElementOf;
template <>
struct ElementOf<__half> {
  static constexpr Element kElement = Element::kHalf;
  static constexpr const char* kName = "fp16";
  /// Half a unit in the last place of 1, and the relative l2 error that rounding alone stays well below.
  static constexpr double kRounding = 1.0 / 2048;
  static constexpr double kL2 = 1e-3;
  /// Products that are added to a sum at once.
  static constexpr int kAtOnce = 16;
};
template <>
struct ElementOf<__nv_bfloat16> {
  static constexpr Element kElement = Element::kBFloat16;
  static constexpr const char* kName = "bf16";
  static constexpr double kRounding = 1.0 / 256;
  static constexpr double kL2 = 8e-3;
  static constexpr int kAtOnce = 16;
};
template <>
struct ElementOf<float> {
  static constexpr Element kElement = Element::kFloat;
  static constexpr const char* kName = "fp32";
  static constexpr double kRounding = 1.0 / (1 << 24);
  /// Sums of up to 4608 products, each rounded: about sqrt(4608) half units in the last place.
  static constexpr double kL2 = 1e-5;
  static constexpr int kAtOnce = 1;
};
template <>
struct ElementOf<ptx::Tf32> {
  static constexpr Element kElement = Element::kTf32;
  static constexpr const char* kName = "tf32";
  static constexpr double kRounding = 1.0 / (1 << 24);
  static constexpr double kL2 = 1e-5;
  static constexpr int kAtOnce = 8;
};

/// To 11 bits, ties away from zero: what a tensor core is to multiply.
__host__ __device__ inline float round_to_tf32(float value) {
  const int exponent = value == 0 ? 0 : ilogbf(value);
  const double unit = ldexp(1.0, exponent - 10);
  return static_cast<float>(copysign(floor(fabs(value) / unit + 0.5) * unit, value));
}

/// An element as a float, in a product and elsewhere.
template <class T>
__host__ __device__ float factor_of(T element) {
  return static_cast<float>(element);
}
template <>
__host__ __device__ inline float factor_of(ptx::Tf32 element) {
  return round_to_tf32(element.value);
}
template <class T>
__host__ __device__ float value_of(T element) {
  return static_cast<float>(element);
}
template <>
__host__ __device__ inline float value_of(ptx::Tf32 element) {
  return element.value;
}

/// splitmix64: a number of [-1, 1) for each (seed, i).
__host__ __device__ inline float random_at(uint64_t seed, uint64_t i) {
  uint64_t z = (seed * 0x9e3779b97f4a7c15u + i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<float>(static_cast<double>(z >> 40) / (1 << 23) - 1.0);
}

template <class T>
__global__ void fill_random(T* data, size_t count, uint64_t seed, float scale) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x) {
    data[i] = T{scale * random_at(seed, i)};
  }
}

template <class T>
Buffer<T> random_buffer(size_t count, uint64_t seed, float scale) {
  Buffer<T> buffer(count);
  fill_random<<<512, 256>>>(buffer.get(), count, seed, scale);
  HONE_MUST(cudaGetLastError());
  return buffer;
}

__host__ __device__ inline double apply_reference(const EpilogueStep& step, double x, double operand) {
  const double alpha = step.alpha;
  const double beta = step.beta;
  const auto limit = [](double v, double low, double high) { return v < low ? low : (v > high ? high : v); };
  const double softplus = (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
  switch (step.op) {
    case graph::PostOp::kRelu: return x < 0 ? 0 : x;
    case graph::PostOp::kLeakyRelu: return x < 0 ? alpha * x : x;
    case graph::PostOp::kClip: return limit(x, alpha, beta);
    case graph::PostOp::kSigmoid: return 1 / (1 + exp(-x));
    case graph::PostOp::kTanh: return tanh(x);
    case graph::PostOp::kHardSwish: return x * limit(x / 6 + 0.5, 0, 1);
    case graph::PostOp::kHardSigmoid: return limit(alpha * x + beta, 0, 1);
    case graph::PostOp::kSwish: return x / (1 + exp(-alpha * x));
    case graph::PostOp::kElu: return x < 0 ? alpha * expm1(x) : x;
    case graph::PostOp::kGeluErf: return 0.5 * x * (1 + erf(x * 0.70710678118654752));
    case graph::PostOp::kGeluTanh:
      return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    case graph::PostOp::kSoftplus: return softplus;
    case graph::PostOp::kMish: return x * tanh(softplus);
    case graph::PostOp::kAdd: return x + operand;
    case graph::PostOp::kMul: return x * operand;
    case graph::PostOp::kSub: return x - operand;
  }
  return x;
}

struct ReferenceSteps {
  EpilogueStep steps[kMaxEpilogueSteps];
  int count;
};

/// One output in double, and the sum of the magnitudes that were added for it. Channels need not be a
/// multiple of 8.
template <class T>
__host__ __device__ inline void reference_at(const ConvProblem& p, const T* x, const T* w, const float* bias,
                                             const ReferenceSteps& list, int64_t index, double* value,
                                             double* magnitude) {
  const int filter = static_cast<int>(index % p.filters);
  const int64_t pixel = index / p.filters;
  const int out_w =
      (p.width + p.pad_left + p.pad_right - p.dilation_w * (p.kernel_w - 1) - 1) / p.stride_w + 1;
  const int out_h =
      (p.height + p.pad_top + p.pad_bottom - p.dilation_h * (p.kernel_h - 1) - 1) / p.stride_h + 1;
  const int column = static_cast<int>(pixel % out_w);
  const int row = static_cast<int>(pixel / out_w % out_h);
  const int64_t image = pixel / out_w / out_h;
  double sum = bias == nullptr ? 0 : bias[filter];
  double total = fabs(sum);
  for (int r = 0; r < p.kernel_h; ++r) {
    for (int s = 0; s < p.kernel_w; ++s) {
      const int in_y = row * p.stride_h - p.pad_top + r * p.dilation_h;
      const int in_x = column * p.stride_w - p.pad_left + s * p.dilation_w;
      if (in_y < 0 || in_y >= p.height || in_x < 0 || in_x >= p.width) continue;
      const T* const from = x + ((image * p.height + in_y) * p.width + in_x) * p.channels;
      const T* const weights = w + ((int64_t{filter} * p.kernel_h + r) * p.kernel_w + s) * p.channels;
      for (int c = 0; c < p.channels; ++c) {
        const double product = static_cast<double>(factor_of(from[c])) * factor_of(weights[c]);
        sum += product;
        total += fabs(product);
      }
    }
  }
  for (int i = 0; i < list.count; ++i) {
    const EpilogueStep& step = list.steps[i];
    double operand = 0;
    if (step.operand != nullptr) {
      int64_t at = filter;
      if (step.shape == OperandShape::kFull) at = index;
      if (step.shape == OperandShape::kPerImageChannel) at = image * p.filters + filter;
      operand = value_of(static_cast<const T*>(step.operand)[at]);
      total += fabs(operand);
    }
    sum = apply_reference(step, sum, operand);
  }
  *value = sum;
  *magnitude = total;
}

template <class T>
__global__ void reference_kernel(ConvProblem p, const T* x, const T* w, const float* bias,
                                 ReferenceSteps list, double* values, double* magnitudes, int64_t count) {
  const int64_t index = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (index < count) reference_at(p, x, w, bias, list, index, values + index, magnitudes + index);
}

template <class T>
void run_reference(const ConvProblem& p, const T* x, const T* w, const ConvArgs& args, double* values,
                   double* magnitudes) {
  ReferenceSteps list{};
  for (int i = 0; i < args.step_count; ++i) list.steps[i] = args.steps[i];
  list.count = args.step_count;
  const int64_t count = p.rows() * p.filters;
  reference_kernel<<<static_cast<unsigned>((count + 127) / 128), 128>>>(p, x, w, args.bias, list, values,
                                                                        magnitudes, count);
  HONE_MUST(cudaGetLastError());
}

/// The pool of a stem over what reference_at() made; an error of a maximum is at most the largest under it.
__global__ inline void pool_reference(ConvProblem p, StemPool pool, const double* values,
                                      const double* magnitudes, double* pooled, double* most, int64_t count) {
  const int64_t index = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (index >= count) return;
  const int64_t filter = index % p.filters;
  const int64_t pixel = index / p.filters;
  const auto x = static_cast<int>(pixel % pool.out_width) * 2 - pool.pad_left;
  const auto y = static_cast<int>(pixel / pool.out_width % pool.out_height) * 2 - pool.pad_top;
  const int64_t image = pixel / pool.out_width / pool.out_height;
  const int height =
      (p.height + p.pad_top + p.pad_bottom - p.dilation_h * (p.kernel_h - 1) - 1) / p.stride_h + 1;
  const int width =
      (p.width + p.pad_left + p.pad_right - p.dilation_w * (p.kernel_w - 1) - 1) / p.stride_w + 1;
  pooled[index] = -INFINITY;
  most[index] = 0;
  for (int row = max(y, 0); row < min(y + 3, height); ++row) {
    for (int column = max(x, 0); column < min(x + 3, width); ++column) {
      const int64_t at = ((image * height + row) * width + column) * p.filters + filter;
      pooled[index] = fmax(pooled[index], values[at]);
      most[index] = fmax(most[index], magnitudes[at]);
    }
  }
}

template <class T>
__device__ bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  return *reinterpret_cast<const Bits*>(&a) == *reinterpret_cast<const Bits*>(&b);
}

/// The result of comparing y with the reference.
struct Difference {
  double squared_error = 0;
  double squared_value = 0;
  unsigned long long outside = 0;  ///< elements beyond their own bound, NaN among them
  unsigned long long unequal = 0;  ///< elements whose bits differ between two runs

  double l2() const { return std::sqrt(squared_error / (squared_value > 0 ? squared_value : 1)); }
};

/// An element's bound: its own rounding, and the rounding of the float32 sums. Up to 16 products are added in
/// the tensor core, and these to the sum one after another, each with an error below 2^-23 of the magnitudes;
/// the epilogue's functions stretch an error by 1.2 at most for the operands used here, and err by a few
/// 2^-22 themselves.
template <class T>
__global__ void compare_kernel(const T* y, const T* again, const double* values, const double* magnitudes,
                               int64_t count, double depth, Difference* result) {
  Difference mine;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < count;
       i += int64_t{gridDim.x} * blockDim.x) {
    const double error = static_cast<double>(value_of(y[i])) - values[i];
    const double sums = (depth / ElementOf<T>::kAtOnce + 32) / (1 << 23) * magnitudes[i] * 1.2;
    const double bound = ElementOf<T>::kRounding * 1.05 * fabs(values[i]) + sums + 1e-6;
    mine.squared_error += error * error;
    mine.squared_value += values[i] * values[i];
    if (!(fabs(error) <= bound)) ++mine.outside;
    if (!same_bits(y[i], again[i])) ++mine.unequal;
  }
  atomicAdd(&result->squared_error, mine.squared_error);
  atomicAdd(&result->squared_value, mine.squared_value);
  if (mine.outside != 0) atomicAdd(&result->outside, mine.outside);
  if (mine.unequal != 0) atomicAdd(&result->unequal, mine.unequal);
}

template <class T>
Difference compare(const T* y, const T* again, const double* values, const double* magnitudes, int64_t count,
                   int64_t depth, Difference* scratch) {
  HONE_MUST(cudaMemsetAsync(scratch, 0, sizeof(Difference)));
  const auto blocks = static_cast<unsigned>(count / 256 + 1 < 264 ? count / 256 + 1 : 264);
  compare_kernel<<<blocks, 256>>>(y, again, values, magnitudes, count, static_cast<double>(depth), scratch);
  Difference result;
  HONE_MUST(cudaMemcpy(&result, scratch, sizeof(Difference), cudaMemcpyDeviceToHost));
  return result;
}

}  // namespace hone::device::cuda::check
