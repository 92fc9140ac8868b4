// Describes a trend over steps in a sentence.
#pragma once

#include <optional>
#include <string>

#include "base/trend.hpp"

namespace hone::report {

/// "Steps get longer: +1.2 us each (0.8 to 1.6 us).", or a sentence that there is no trend. The trend is in
/// ns. Empty if there were too few steps.
std::string trend_text(const std::optional<base::Trend>& trend);

}  // namespace hone::report
