// The steps of a program where the host computes some of them: what lies between these is captured.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/execution/program_steps.hpp"

namespace hone::device::cuda {

/// Neighbouring steps that are handed over alike.
struct StepStretch {
  size_t first = 0;
  size_t count = 0;
  bool captured = false;  ///< as one CUDA graph; otherwise step by step

  bool operator==(const StepStretch&) const = default;
};

/// All steps in order. `on_host` says for each whether the host computes it; a single step of the GPU is not
/// captured, since the launch of a graph costs as much as its own.
std::vector<StepStretch> step_stretches(const std::vector<bool>& on_host);

class StepGraphs {
 public:
  /// Captures on `stream`, which has nothing under way. Libraries must have loaded their kernels. `steps` and
  /// `bound` outlive this.
  StepGraphs(ProgramSteps& steps, const BoundSteps& bound, const Stream& stream);

  /// Hands all steps to the stream; those that the host computes wait for it.
  void launch(cudaStream_t stream) const;

 private:
  ProgramSteps& steps_;
  const BoundSteps& bound_;
  std::vector<StepStretch> stretches_;
  /// One for each stretch; null where it is not captured.
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;
};

}  // namespace hone::device::cuda
