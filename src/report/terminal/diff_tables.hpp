// Tables of the changes between two recordings.
#pragma once

#include <vector>

#include "analysis/questions/trace_diff.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// Returns the waterfall, the layers (if there are any), and the kernels that replaced others.
std::vector<Sheet> diff_sheets(const analysis::TraceDiff& diff);

}  // namespace hone::report
