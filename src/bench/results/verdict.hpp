// The verdict of a run: VALID, or INVALID with every reason. The thresholds stand in verdict.cpp and in
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
  /// The highest percentile the run has to support, for example 0.99.
  double percentile = 0.5;
  bool warm = true;
  int threads = 1;
  int cores = 1;
  system::Interference interference;
  /// Disturbed by threads that are part of the setup.
  bool disturbed = false;
  /// State of the GPU; null on the CPU.
  const GpuConditions* gpu = nullptr;
  bool outputs_finite = true;
  /// Why they cannot be those of the model; empty when they can.
  std::string impossible_outputs;
  /// Relative L2 distance of the outputs from the reference, where it is known.
  std::optional<double> error;
  tensor::Precision precision = tensor::Precision::kFp32;
  /// In which the reference computes, where the model itself is of a narrower type.
  tensor::Precision reference = tensor::Precision::kFp32;
};

Verdict judge(const VerdictInput& input);

}  // namespace hone::bench
