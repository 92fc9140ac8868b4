// The critical path as text: the table of nvprof --dependency-analysis, with blame as a fifth column.
#pragma once

#include <string>

#include "analysis/critical_path.hpp"

namespace hone::report {

/// A line of titles and one for each function, in the order of the critical path's rows. Each line ends with
/// a newline.
std::string dependency_table(const analysis::CriticalPath& path);

/// As nvprof wrote times: the largest unit of s, ms, us and ns in which it is at least one; six decimals, of
/// ns none.
std::string nvprof_time(trace::Time time);

}  // namespace hone::report
