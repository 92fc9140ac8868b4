// The steps of a program that the host computes in part; the GPU's steps between those are captured.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/execution/program_steps.hpp"

namespace hone::device::cuda {

/// Adjacent steps that are submitted in the same way.
struct StepStretch {
  size_t first = 0;
  size_t count = 0;
  bool captured = false;  ///< as one CUDA graph; otherwise step by step

  bool operator==(const StepStretch&) const = default;
};

/// Divides all steps in order. `on_host` says for each step whether the host computes it. A single step of
/// the GPU is not captured, because launching a graph costs as much as the step's own launch.
std::vector<StepStretch> step_stretches(const std::vector<bool>& on_host);

class StepGraphs {
 public:
  /// Captures in `stream`, which must be idle. Libraries must have loaded their kernels. `steps` and `bound`
  /// must outlive it.
  StepGraphs(ProgramSteps& steps, const BoundSteps& bound, const Stream& stream);

  /// Submits all steps to the stream; steps that the host computes wait for it.
  void launch(cudaStream_t stream) const;

 private:
  ProgramSteps& steps_;
  const BoundSteps& bound_;
  std::vector<StepStretch> stretches_;
  /// One for each stretch; null if it is not captured.
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;
};

}  // namespace hone::device::cuda
