// Runs conformance cases in a child process that is replaced when it crashes or hangs, so that one bad case
// is one failed case.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bench/conformance/conformance.hpp"

namespace hone::bench {

struct RunnerOptions {
  std::string backend = "reference";
  ConformanceOptions conformance;
  int timeout_seconds = 60;  ///< of one case
};

/// Results in the order of the cases; `progress` sees each as it comes in. The error of the backend when it
/// is not to be had on the device.
std::vector<CaseResult> run_cases(std::span<const ConformanceCase> cases, const RunnerOptions& options,
                                  const std::function<void(const CaseResult&)>& progress);

}  // namespace hone::bench
