// See trend.hpp.
#include "base/trend.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone::base {
namespace {

constexpr size_t kFewest = 5;
constexpr size_t kMost = 1000;
constexpr double kNormal975 = 1.959963984540054;

/// Means of blocks of this many values; the last block may be incomplete.
std::vector<double> block_means(const std::vector<double>& values, size_t block) {
  std::vector<double> means;
  for (size_t i = 0; i + block <= values.size(); i += block) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(block), 0.0) /
                    static_cast<double>(block));
  }
  return means;
}

}  // namespace

std::optional<Trend> trend_of(const std::vector<double>& values) {
  if (values.size() < kFewest) return std::nullopt;
  const size_t block = (values.size() + kMost - 1) / kMost;
  const std::vector<double> series = block_means(values, block);
  std::vector<double> slopes;
  for (size_t i = 0; i < series.size(); ++i) {
    for (size_t k = i + 1; k < series.size(); ++k)
      slopes.push_back((series[k] - series[i]) / static_cast<double>((k - i) * block));
  }
  std::sort(slopes.begin(), slopes.end());
  const auto n = static_cast<double>(series.size());
  const auto pairs = static_cast<double>(slopes.size());
  const double width = kNormal975 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto rank = [&](double place) {
    return slopes[static_cast<size_t>(std::clamp(place, 0.0, pairs - 1))];
  };
  const size_t middle = slopes.size() / 2;
  const double median = slopes.size() % 2 == 1 ? slopes[middle] : (slopes[middle - 1] + slopes[middle]) / 2;
  return Trend{median, rank(std::floor((pairs - width) / 2) - 1), rank(std::ceil((pairs + width) / 2))};
}

Json to_json(const std::optional<Trend>& trend) {
  if (!trend) return nullptr;
  return {{"slope", trend->slope}, {"low", trend->low}, {"high", trend->high}, {"certain", trend->certain()}};
}

}  // namespace hone::base
