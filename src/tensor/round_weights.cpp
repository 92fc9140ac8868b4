// See round_weights.hpp.
#include "tensor/round_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "tensor/float_types.hpp"
#include "tensor/saturate.hpp"

namespace hone::tensor {
namespace {

/// A weight that may be rounded to its other neighbour.
struct Candidate {
  size_t index;
  float spacing;  ///< between its neighbours
  float cost;     ///< growth of its squared error per unit of change of the sum of errors
};

/// Weights whose rounding error is below this share of the spacing are too far from the other neighbour. In
/// long filters, the first share leaves enough candidates, and fewer to sort.
constexpr float kNearMiddle[] = {0.46f, 0.35f};

/// The number adjacent to `value` in magnitude.
template <class T>
T next(T value, bool away_from_zero) {
  value.bits = static_cast<uint16_t>(away_from_zero ? value.bits + 1 : value.bits - 1);
  return value;
}

template <class T>
bool is_zero(T value) {
  return (value.bits & 0x7fff) == 0;
}

/// True if moving `rounded` by one number against `error` makes its magnitude larger.
template <class T>
bool moves_away_from_zero(T rounded, float error) {
  return (static_cast<float>(rounded) < 0) == (error > 0);
}

/// Rounds all values except NaN to nearest; the compiler vectorizes loops over it.
void round_to_nearest(const float* from, BFloat16* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t word = std::bit_cast<uint32_t>(from[i]);
    to[i].bits = static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
}
void round_to_nearest(const float* from, Half* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = Half(from[i]);
}

/// Rounds one filter after another; reuses its memory.
template <class T>
class FilterRounding {
 public:
  /// For filters with windows of `taps` taps, which are adjacent for each channel.
  explicit FilterRounding(size_t taps) : taps_(taps) {}

  /// `weights` and `rounded` have `count` elements that are `stride` apart.
  void run(const float* weights, T* rounded, int64_t count, int64_t stride) {
    if (stride == 1) {
      run(weights, rounded, static_cast<size_t>(count));
      return;
    }
    weights_.resize(static_cast<size_t>(count));
    rounded_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) weights_[static_cast<size_t>(i)] = weights[i * stride];
    run(weights_.data(), rounded_.data(), static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) rounded[i * stride] = rounded_[static_cast<size_t>(i)];
  }

 private:
  void run(const float* weights, T* rounded, size_t count) {
    errors_.resize(count);
    round_to_nearest(weights, rounded, count);
    for (size_t i = 0; i < count; ++i) errors_[i] = static_cast<float>(rounded[i]) - weights[i];
    if (!std::isfinite(sum_of_errors(0, count))) {
      for (size_t i = 0; i < count; ++i) rounded[i] = saturated<T>(weights[i]);
      return;
    }
    if (taps_ > 1 && taps_ < count) {
      for (size_t first = 0; first < count; first += taps_) balance_window(rounded, first);
    }
    double sum = sum_of_errors(0, count);
    for (const float near : kNearMiddle) {
      sum = move_towards_zero(weights, rounded, sum, near);
      // Steps of a whole spacing cannot come closer than half a spacing.
      if (std::abs(sum) < 0.5 * widest_) return;
    }
  }

  double sum_of_errors(size_t first, size_t count) const {
    double sum = 0;
    for (size_t i = first; i < first + count; ++i) sum += static_cast<double>(errors_[i]);
    return sum;
  }

  /// The data that the taps of a window read are partly common to a channel, so that the sum of their errors
  /// matters, and partly independent, so that each error matters. Both have equal weight: taps are moved, the
  /// best ones first, as long as this lowers the sum of the squares plus the square of the sum.
  void balance_window(T* rounded, size_t first) {
    double sum = sum_of_errors(first, taps_);
    for (;;) {
      size_t best = first;
      double least = 0;
      for (size_t i = first; i < first + taps_; ++i) {
        const auto error = static_cast<double>(errors_[i]);
        // Numbers around zero are not changed, as below.
        if (error * sum <= 0 || is_zero(rounded[i])) continue;
        const double spacing = spacing_beside(rounded[i], errors_[i]);
        const double change = 2 * spacing * (spacing - std::abs(error) - std::abs(sum));
        if (change < least) {
          least = change;
          best = i;
        }
      }
      if (least == 0) return;
      sum += static_cast<double>(move(rounded[best], errors_[best]));
    }
  }

  /// The distance from a number to its neighbour on the other side of the weight.
  static float spacing_beside(T rounded, float error) {
    const T other = next(rounded, moves_away_from_zero(rounded, error));
    return std::abs(static_cast<float>(other) - static_cast<float>(rounded));
  }

  /// Moves the number to the other side of the weight; returns the distance.
  static float move(T& rounded, float& error) {
    const T other = next(rounded, moves_away_from_zero(rounded, error));
    const float by = static_cast<float>(other) - static_cast<float>(rounded);
    rounded = other;
    error += by;
    return by;
  }

  /// Returns the remaining sum of errors.
  double move_towards_zero(const float* weights, T* rounded, double sum, float near) {
    candidates_.clear();
    widest_ = 0;
    const float sign = sum > 0 ? 1.0f : -1.0f;
    for (size_t i = 0; i < errors_.size(); ++i) {
      if (errors_[i] * sign > near * least_spacing(weights[i])) consider(rounded[i], i, near);
    }
    const auto dearer = [](const Candidate& a, const Candidate& b) {
      return a.cost != b.cost ? a.cost > b.cost : a.index > b.index;
    };
    // Only few are needed, so a heap gives the cheapest ones without sorting all.
    std::make_heap(candidates_.begin(), candidates_.end(), dearer);
    double left = std::abs(sum);
    for (auto end = candidates_.end(); end != candidates_.begin() && left > 0; --end) {
      std::pop_heap(candidates_.begin(), end, dearer);
      const Candidate& candidate = *(end - 1);
      if (candidate.spacing >= 2 * left) continue;
      move(rounded[candidate.index], errors_[candidate.index]);
      left -= candidate.spacing;
    }
    return sign * left;
  }

  /// The spacing of `T` around a normal number; subnormal numbers are further apart. Next to a power of two,
  /// the spacing towards zero is half of it, so such neighbours are skipped.
  static float least_spacing(float weight) {
    constexpr float kUnit = std::is_same_v<T, Half> ? 0x1p-10f : 0x1p-7f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(weight) & 0x7f800000u) * kUnit;
  }

  void consider(T rounded, size_t index, float near) {
    // Numbers around zero are not changed: one of them has no single neighbour, and their errors are small.
    if (is_zero(rounded)) return;
    const float error = errors_[index];
    const float spacing = spacing_beside(rounded, error);
    if (!std::isfinite(spacing) || std::abs(error) < near * spacing) return;
    candidates_.push_back({index, spacing, spacing - 2 * std::abs(error)});
    widest_ = std::max(widest_, spacing);
  }

  size_t taps_;
  std::vector<float> weights_;
  std::vector<T> rounded_;
  std::vector<float> errors_;
  std::vector<Candidate> candidates_;
  float widest_ = 0;  ///< spacing of candidates
};

template <class T>
void round_all(const Tensor& weights, FilterAxis axis, Tensor& rounded) {
  const int64_t filters = axis == FilterAxis::kFirst ? weights.shape().front() : weights.shape().back();
  if (weights.size() == 0) return;
  const int64_t depth = weights.size() / filters;
  int64_t taps = 1;
  if (axis == FilterAxis::kFirst)
    for (size_t i = 2; i < weights.shape().size(); ++i) taps *= weights.shape()[i];
  const int64_t between_filters = axis == FilterAxis::kFirst ? depth : 1;
  const int64_t stride = axis == FilterAxis::kFirst ? 1 : filters;
  const float* const from = weights.values<float>().data();
  T* const to = rounded.mutable_values<T>().data();
  constexpr int64_t kWorthThreads = int64_t{1} << 19;
#pragma omp parallel if (weights.size() >= kWorthThreads)
  {
    FilterRounding<T> rounding(static_cast<size_t>(taps));
#pragma omp for schedule(static)
    for (int64_t filter = 0; filter < filters; ++filter)
      rounding.run(from + filter * between_filters, to + filter * between_filters, depth, stride);
  }
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
