// Runs conformance cases in a child process. If it crashes or hangs, it is replaced, so a bad case is only
// one failed case.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bench/conformance/conformance.hpp"

namespace hone::bench {

struct RunnerOptions {
  std::string backend = "reference";
  ConformanceOptions conformance;
  int timeout_seconds = 60;  ///< for one case
};

/// Returns results in the order of the cases, and passes each to `progress` as it arrives. Throws the
/// backend's error if it is not available on the device.
std::vector<CaseResult> run_cases(std::span<const ConformanceCase> cases, const RunnerOptions& options,
                                  const std::function<void(const CaseResult&)>& progress);

}  // namespace hone::bench
