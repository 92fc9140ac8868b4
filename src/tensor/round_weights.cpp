// See round_weights.hpp.
#include "tensor/round_weights.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "tensor/float_types.hpp"

namespace hone::tensor {
namespace {

/// A weight that may go to its other neighbour.
struct Candidate {
  int64_t index;
  float spacing;  ///< between its neighbours
  float cost;     ///< growth of its squared error for each unit that the sum of errors moves
};

/// Below this part of the spacing, the other neighbour is too far away.
constexpr float kNearMiddle = 0.35f;

/// The number next to `value` in magnitude.
template <class T>
T next(T value, bool away_from_zero) {
  value.bits = static_cast<uint16_t>(away_from_zero ? value.bits + 1 : value.bits - 1);
  return value;
}

template <class T>
bool is_zero(T value) {
  return (value.bits & 0x7fff) == 0;
}

/// Whether moving `rounded` by one against `error` makes its magnitude larger.
template <class T>
bool moves_away_from_zero(T rounded, float error) {
  return (static_cast<float>(rounded) < 0) == (error > 0);
}

template <class T>
class FilterRounding {
 public:
  /// `weights` and `rounded` are `count` elements, `stride` apart.
  void run(const float* weights, T* rounded, int64_t count, int64_t stride) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      rounded[i * stride] = T(weights[i * stride]);
      sum += static_cast<double>(static_cast<float>(rounded[i * stride])) - weights[i * stride];
    }
    if (!std::isfinite(sum) || sum == 0) return;
    candidates_.clear();
    for (int64_t i = 0; i < count; ++i) consider(weights[i * stride], rounded[i * stride], i, sum > 0);
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.index < b.index;
    });
    double left = std::abs(sum);
    for (const Candidate& candidate : candidates_) {
      if (candidate.spacing >= 2 * left) continue;
      T& value = rounded[candidate.index * stride];
      const float error = static_cast<float>(value) - weights[candidate.index * stride];
      value = next(value, moves_away_from_zero(value, error));
      left -= candidate.spacing;
      if (left <= 0) break;
    }
  }

 private:
  void consider(float weight, T rounded, int64_t index, bool positive) {
    const float error = static_cast<float>(rounded) - weight;
    // Numbers around zero are left alone: one has no single neighbour, and their errors are small.
    if (error == 0 || (error > 0) != positive || is_zero(rounded)) return;
    const T other = next(rounded, moves_away_from_zero(rounded, error));
    const float spacing = std::abs(static_cast<float>(other) - static_cast<float>(rounded));
    if (!std::isfinite(spacing) || std::abs(error) < kNearMiddle * spacing) return;
    candidates_.push_back({index, spacing, spacing - 2 * std::abs(error)});
  }

  std::vector<Candidate> candidates_;
};

template <class T>
void round_all(const Tensor& weights, FilterAxis axis, Tensor& rounded) {
  const int64_t filters = axis == FilterAxis::kFirst ? weights.shape().front() : weights.shape().back();
  if (weights.size() == 0) return;
  const int64_t depth = weights.size() / filters;
  const int64_t between_filters = axis == FilterAxis::kFirst ? depth : 1;
  const int64_t stride = axis == FilterAxis::kFirst ? 1 : filters;
  const float* const from = weights.values<float>().data();
  T* const to = rounded.mutable_values<T>().data();
  FilterRounding<T> rounding;
  for (int64_t filter = 0; filter < filters; ++filter)
    rounding.run(from + filter * between_filters, to + filter * between_filters, depth, stride);
}

}  // namespace

Tensor round_weights(const Tensor& weights, DType to, FilterAxis axis) {
  if (!can_round_weights(weights)) fail_internal("weights to round must be float32 of rank 2 or more");
  Tensor rounded(to, weights.shape());
  if (to == DType::kFloat16) {
    round_all<Half>(weights, axis, rounded);
  } else if (to == DType::kBFloat16) {
    round_all<BFloat16>(weights, axis, rounded);
  } else {
    fail_internal("weights are rounded to 16 bits only");
  }
  return rounded;
}

}  // namespace hone::tensor
