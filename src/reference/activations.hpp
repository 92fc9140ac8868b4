// Activation functions on one number, shared by the elementwise kernels and the post-ops of fused operators.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hone::reference {

inline double relu(double x) { return x > 0 || std::isnan(x) ? x : 0; }
inline double leaky_relu(double x, double alpha) { return x < 0 ? alpha * x : x; }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double hard_sigmoid(double x, double alpha, double beta) {
  return std::isnan(x) ? x : std::clamp(alpha * x + beta, 0.0, 1.0);
}
inline double hard_swish(double x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); }
/// x * sigmoid(alpha * x), Ramachandran et al. (2017).
inline double swish(double x, double alpha) { return x * sigmoid(alpha * x); }
inline double elu(double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; }
/// log(1 + e^x) without overflow.
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
/// x * tanh(softplus(x)), Misra (2019).
inline double mish(double x) { return x * std::tanh(softplus(x)); }
/// x * Phi(x), Hendrycks and Gimpel (2016).
inline double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
/// The tanh approximation of gelu_erf by Hendrycks and Gimpel.
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
}
/// max(low, min(high, x)) in the order of ONNX: if the bounds cross, `high` wins; NaN stays.
template <class T>
T clip(T x, T low, T high) {
  if (x < low) x = low;
  return x > high ? high : x;
}

}  // namespace hone::reference
