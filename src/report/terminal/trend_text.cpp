// See trend_text.hpp.
#include "report/terminal/trend_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/units.hpp"

namespace hone::report {
namespace {

std::string signed_text(double nanoseconds) {
  return (nanoseconds < 0 ? "-" : "+") + base::time_text(std::abs(nanoseconds));
}

}  // namespace

std::string trend_text(const std::optional<base::Trend>& trend) {
  if (!trend) return "";
  const std::string interval = fmt::format("{} to {}", signed_text(trend->low), signed_text(trend->high));
  if (!trend->certain()) return fmt::format("No trend over the steps ({} each, 95 %).", interval);
  return fmt::format("Steps get {}: {} each ({}, 95 %).", trend->slope > 0 ? "longer" : "shorter",
                     signed_text(trend->slope), interval);
}

}  // namespace hone::report
