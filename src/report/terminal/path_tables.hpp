// The critical path, idle time and what-if answers as tables.
#pragma once

#include <vector>

#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/idle_time.hpp"
#include "analysis/questions/what_if.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// The columns of nvprof --dependency-analysis, then blame and calls; a second table contains the what-if
/// gains.
std::vector<Sheet> dependency_sheets(const analysis::CriticalPath& path, const analysis::WhatIfs& what_ifs);
/// One table for each device.
std::vector<Sheet> idle_sheets(const analysis::IdleTime& idle);

}  // namespace hone::report
