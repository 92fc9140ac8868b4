// See class_scores.hpp.
#include "task/class_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone::task {

std::vector<double> probabilities(std::span<const double> row) {
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  const double largest = *std::max_element(row.begin(), row.end());
  const bool positive = std::all_of(row.begin(), row.end(), [](double value) { return value >= 0; });
  std::vector<double> result(row.begin(), row.end());
  if (positive && std::abs(sum - 1) < 1e-3) return result;
  for (double& value : result) value = std::exp(value - largest);
  const double total = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= total;
  return result;
}

std::vector<size_t> likeliest(std::span<const double> row, size_t count) {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  count = std::min(count, row.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
  order.resize(count);
  return order;
}

std::string score_text(double score) {
  constexpr double kLeast = 0.001;
  return std::abs(score) < kLeast ? fmt::format("{:.3g}", score) : fmt::format("{:.4f}", score);
}

}  // namespace hone::task
