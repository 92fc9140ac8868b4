// See sums_kernel.hpp.
#include "device/cpu/quantized/sums_kernel.hpp"

#include <omp.h>

#include <algorithm>

#include "device/cpu/clones.hpp"
#include "device/cpu/quantize_math.hpp"

namespace hone::device::cpu {
namespace {

using tensor::DType;

/// floats[i] = sums[i] * scales[i].
HONE_CLONES void scale_each(const int32_t* __restrict sums, const float* __restrict scales,
                            float* __restrict floats, int64_t n) {
  for (int64_t i = 0; i < n; ++i) floats[i] = static_cast<float>(sums[i]) * scales[i];
}

int32_t byte_at(DType dtype, const void* data, int64_t index) {
  return dtype == DType::kUInt8 ? int32_t{static_cast<const uint8_t*>(data)[index]}
                                : int32_t{static_cast<const int8_t*>(data)[index]};
}

bool has(const engine::Run& run, size_t input) {
  return input < run.inputs.size() && run.inputs[input] != nullptr;
}

/// Writes them `stride` apart.
void write(const int32_t* sums, int64_t count, int32_t* to, int64_t stride) {
  if (stride == 1) {
    std::copy_n(sums, count, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * stride] = sums[i];
  }
}

template <class T>
void write_rounded(const float* floats, float zero_point, int64_t count, T* to, int64_t stride) {
  if (stride == 1) return quantize_row(floats, 1, zero_point, to, static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) quantize_row(floats + i, 1, zero_point, to + i * stride, 1);
}

}  // namespace

SumsKernel::SumsKernel(SumsProblem problem, const BytePositions& at, Requantization requantization)
    : problem_(std::move(problem)),
      at_(at),
      requantization_(std::move(requantization)),
      threads_(omp_get_max_threads()) {}

int32_t SumsKernel::a_zero(const engine::Run& run) const {
  return has(run, at_.a_zero) ? byte_at(problem_.a_type, run.inputs[at_.a_zero], 0) : 0;
}

int32_t SumsKernel::b_zero(const engine::Run& run, int64_t column) const {
  if (!has(run, at_.b_zero)) return 0;
  return byte_at(problem_.b_type, run.inputs[at_.b_zero], problem_.b_zeros == 1 ? 0 : column);
}

int32_t SumsKernel::bias(const engine::Run& run, int64_t column) const {
  return has(run, at_.bias) ? static_cast<const int32_t*>(run.inputs[at_.bias])[column] : 0;
}

void SumsKernel::store(const engine::Run& run, int64_t row, int64_t column, const int32_t* sums,
                       int64_t count, float* floats) const {
  const int64_t to = problem_.result_at(row, column);
  const int64_t stride = problem_.result_stride();
  void* const result = run.outputs[0];
  const Requantization& r = requantization_;
  if (r.scales.empty()) return write(sums, count, static_cast<int32_t*>(result) + to, stride);
  scale_each(sums, r.scales.data() + column, floats, count);
  if (r.dtype == DType::kUInt8)
    return write_rounded(floats, r.zero_point, count, static_cast<uint8_t*>(result) + to, stride);
  write_rounded(floats, r.zero_point, count, static_cast<int8_t*>(result) + to, stride);
}

}  // namespace hone::device::cpu
