// See units.hpp.
#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace hone::base {
namespace {

/// Formats in the largest unit of which there is at least one; each unit is a thousand of the previous one.
/// The first unit is not divided, so integers in it are shown as such.
std::string scaled(double value, std::span<const std::string_view> units) {
  // 999.96 would be shown as 1000.
  constexpr double kNext = 999.95;
  size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= kNext) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.4g} {}", value + 0.0, units.front());
  const int decimals = std::abs(value) >= 99.995 ? 1 : std::abs(value) >= 9.9995 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

constexpr std::array<std::string_view, 4> kTimes = {"ns", "us", "ms", "s"};
constexpr std::array<std::string_view, 5> kSizes = {"B", "kB", "MB", "GB", "TB"};

/// Returns zero instead of a value that would be shown as "-0.0".
double without_minus_zero(double value, double half_of_last_digit) {
  return std::abs(value) < half_of_last_digit ? 0.0 : value;
}

}  // namespace

std::string time_text(double nanoseconds) { return scaled(nanoseconds, kTimes); }
std::string bytes_text(double bytes) { return scaled(bytes, kSizes); }
std::string rate_text(double bytes_per_second) { return scaled(bytes_per_second, kSizes) + "/s"; }
std::string share_text(double share) {
  return fmt::format("{:.1f} %", without_minus_zero(100 * share, 0.05));
}
std::string change_text(double share) {
  return fmt::format("{:+.1f} %", without_minus_zero(100 * share, 0.05));
}
std::string number_text(double value) {
  constexpr double kFourDigits = 9999.5;
  return std::abs(value) < kFourDigits ? fmt::format("{:.4g}", value + 0.0) : fmt::format("{:.0f}", value);
}
std::string factor_text(double factor) {
  return fmt::format("{:.{}f}", factor, factor >= 99.95 ? 0 : factor >= 9.995 ? 1 : 2);
}

}  // namespace hone::base
