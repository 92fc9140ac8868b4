// Decides the verdict of a run: VALID, or INVALID with all reasons. The thresholds are in verdict.cpp and in
// docs/BENCHMARK.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bootstrap.hpp"
#include "bench/results/gpu_conditions.hpp"
#include "system/monitor.hpp"
#include "tensor/precision.hpp"

namespace hone::bench {

struct Verdict {
  bool valid = false;
  std::vector<std::string> reasons;
};

struct VerdictInput {
  base::Rounds rounds;
  /// The highest percentile that the run must support, for example 0.99.
  double percentile = 0.5;
  bool warm = true;
  int threads = 1;
  int cores = 1;
  system::Interference interference;
  /// True if the setup includes disturbing threads.
  bool disturbed = false;
  /// State of the GPU; null on the CPU.
  const GpuConditions* gpu = nullptr;
  bool outputs_finite = true;
  /// Why the outputs cannot be those of the model; empty if they can.
  std::string impossible_outputs;
  /// Relative L2 distance of the outputs from the reference, if it is known.
  std::optional<double> error;
  tensor::Precision precision = tensor::Precision::kFp32;
  /// The precision of the reference, if the model itself has narrower types.
  tensor::Precision reference = tensor::Precision::kFp32;
};

Verdict judge(const VerdictInput& input);

}  // namespace hone::bench
