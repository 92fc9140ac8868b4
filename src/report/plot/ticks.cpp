// See ticks.hpp.
#include "report/plot/ticks.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace hone::report {
namespace {

/// The ends of ranges are computed, and may miss a tick because of rounding.
constexpr double kSlack = 1e-9;

std::vector<double> powers_of_ten(double low, double high, int every) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
  for (int k = first; k <= last; ++k) {
    if (k % every == 0) ticks.push_back(std::pow(10.0, k));
  }
  return ticks;
}

std::vector<double> one_two_five(double low, double high) {
  std::vector<double> ticks;
  const int last = static_cast<int>(std::floor(std::log10(high)));
  for (int k = static_cast<int>(std::floor(std::log10(low))); k <= last; ++k) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double tick = digit * std::pow(10.0, k);
      if (tick >= low * (1 - kSlack) && tick <= high * (1 + kSlack)) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

std::vector<double> linear_ticks(double low, double high, size_t most) {
  std::vector<double> ticks;
  const int power = static_cast<int>(std::floor(std::log10((high - low) / static_cast<double>(most + 1))));
  for (int k = power;; ++k) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * std::pow(10.0, k);
      const double first = std::ceil(low / step - kSlack);
      const double last = std::floor(high / step + kSlack);
      if (last - first + 1 > static_cast<double>(most)) continue;
      for (double i = first; i <= last; ++i) ticks.push_back(i * step);
      return ticks;
    }
  }
}

std::vector<double> log_ticks(double low, double high, size_t most) {
  std::vector<double> ticks = one_two_five(low, high);
  for (int every = 1; ticks.size() > most; ++every) ticks = powers_of_ten(low, high, every);
  return ticks.size() < 2 ? linear_ticks(low, high, most) : ticks;
}

std::string tick_text(double value) {
  if (value == 0) return "0";  // also for -0
  std::string text = fmt::format("{:.10g}", value);
  const size_t digits = text.find_first_not_of("-0123456789") == std::string::npos ? text.size() : 0;
  constexpr size_t kGrouped = 5;
  if (digits < kGrouped + (value < 0 ? 1 : 0)) return text;
  for (size_t i = text.size() - 3; i > (value < 0 ? 1U : 0U) && i < text.size(); i -= 3) text.insert(i, " ");
  return text;
}

std::string value_text(double value) {
  return std::abs(value) < 9999.5 ? fmt::format("{:.4g}", value) : tick_text(std::round(value));
}

}  // namespace hone::report
