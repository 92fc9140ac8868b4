// See recurrent_math.hpp.
#include "device/cpu/recurrent_math.hpp"

#include "device/cpu/clones.hpp"
#include "device/cpu/vector_math.hpp"

namespace hone::device::cpu {
namespace {

using graph::RecurrentFunction;

template <class F>
HONE_INLINE void for_all(float* x, size_t n, F&& f) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) x[i] = f(x[i]);
}

HONE_INLINE float elu(float x, float alpha) { return x >= 0 ? x : alpha * expm1_of_negative(x); }

}  // namespace

HONE_CLONES void activate(const graph::RecurrentActivation& activation, float clip, float* x, size_t n) {
  const float alpha = activation.alpha;
  const float beta = activation.beta;
  if (clip > 0) for_all(x, n, [=](float v) { return v < -clip ? -clip : v > clip ? clip : v; });
  switch (activation.function) {
    case RecurrentFunction::kRelu: return for_all(x, n, [](float v) { return v < 0 ? 0 : v; });
    case RecurrentFunction::kTanh: return for_all(x, n, [](float v) { return vector_tanh(v); });
    case RecurrentFunction::kSigmoid: return for_all(x, n, [](float v) { return vector_sigmoid(v); });
    case RecurrentFunction::kAffine: return for_all(x, n, [=](float v) { return alpha * v + beta; });
    case RecurrentFunction::kLeakyRelu: return for_all(x, n, [=](float v) { return v >= 0 ? v : alpha * v; });
    case RecurrentFunction::kThresholdedRelu:
      return for_all(x, n, [=](float v) { return v >= alpha ? v : 0; });
    case RecurrentFunction::kScaledTanh:
      return for_all(x, n, [=](float v) { return alpha * vector_tanh(beta * v); });
    case RecurrentFunction::kHardSigmoid:
      return for_all(x, n, [=](float v) {
        const float line = alpha * v + beta;
        return line < 0 ? 0 : line > 1 ? 1 : line;
      });
    case RecurrentFunction::kElu: return for_all(x, n, [=](float v) { return elu(v, alpha); });
    case RecurrentFunction::kSoftsign:
      return for_all(x, n, [](float v) { return v / (1 + (v < 0 ? -v : v)); });
    case RecurrentFunction::kSoftplus: return for_all(x, n, [](float v) { return softplus(v); });
  }
}

HONE_CLONES void add_products(const float* x, const float* y, float* sum, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) sum[i] += x[i] * y[i];
}

HONE_CLONES void multiply(const float* x, const float* y, float* to, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) to[i] = x[i] * y[i];
}

HONE_CLONES void complement(const float* x, float* to, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) to[i] = 1 - x[i];
}

HONE_CLONES void update_cell(const float* input, const float* forget, const float* cell, float* c, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + input[i] * cell[i];
}

HONE_CLONES void mix(const float* update, const float* candidate, float* h, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) h[i] = (1 - update[i]) * candidate[i] + update[i] * h[i];
}

}  // namespace hone::device::cpu
