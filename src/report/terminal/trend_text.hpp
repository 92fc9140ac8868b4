// A trend over steps as a sentence.
#pragma once

#include <optional>
#include <string>

#include "base/trend.hpp"

namespace hone::report {

/// "Steps get longer: +1.2 us each (0.8 to 1.6 us)." or that there is no trend; of ns. Empty when there were
/// too few steps for a trend.
std::string trend_text(const std::optional<base::Trend>& trend);

}  // namespace hone::report
