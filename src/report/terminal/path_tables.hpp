// The critical path, idle time and what-if answers as tables.
#pragma once

#include <vector>

#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/idle_time.hpp"
#include "analysis/questions/what_if.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// nvprof --dependency-analysis's columns, then blame and calls; in a second table what would be gained.
std::vector<Sheet> dependency_sheets(const analysis::CriticalPath& path, const analysis::WhatIfs& what_ifs);
/// One table a device.
std::vector<Sheet> idle_sheets(const analysis::IdleTime& idle);

}  // namespace hone::report
