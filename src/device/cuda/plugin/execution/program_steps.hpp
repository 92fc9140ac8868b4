// Submits the steps of a program to a stream, each with its operands, scratch memory, counters and state.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/plugin/execution/program_memory.hpp"
#include "device/cuda/plugin/gpu.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/program/dynamic_values.hpp"

namespace hone::device::cuda {

/// The data that all runs of a program share, so that runs must not overlap. The program and the GPU must
/// outlive it.
class ProgramSteps {
 public:
  ProgramSteps(const engine::Program& program, Gpu& gpu);

  /// Runs all steps; steps that the host computes wait for the stream.
  void run(const BoundSteps& bound, cudaStream_t stream);
  /// Launches record their times in `stamps`, unless it is null.
  void run_step(size_t index, const BoundSteps& bound, cudaStream_t stream, StampSource* stamps = nullptr);

  const engine::Program& program() const { return program_; }
  Gpu& gpu() const { return gpu_; }
  const ProgramMemory& memory() const { return memory_; }
  /// Number of steps that the host computes. If there are any, the whole program cannot be captured.
  int64_t host_steps() const { return host_steps_; }
  /// Outputs of the last run whose shape depends on data, by index.
  const std::vector<tensor::Tensor>& open_outputs() const { return open_outputs_; }

 private:
  /// The kernel of the previous (direction -1) or next step (1); null if there is none, or if it is no
  /// EarlyKernel.
  const EarlyKernel* neighbour(size_t index, const BoundSteps& bound, int direction) const;
  void run_on_host(size_t index, const BoundSteps& bound, cudaStream_t stream);
  void run_dynamic(const engine::ProgramStep& step, const BoundSteps& bound, cudaStream_t stream);
  tensor::Tensor fetch(const engine::Operand& operand, const BoundSteps& bound, cudaStream_t stream) const;
  void store(const engine::Operand& operand, const tensor::Tensor& value, const BoundSteps& bound,
             cudaStream_t stream);

  const engine::Program& program_;
  Gpu& gpu_;
  ProgramMemory memory_;
  engine::DynamicValues dynamic_;
  /// The state of each step's kernel; null if it has none.
  std::vector<std::unique_ptr<engine::KernelState>> states_;
  int64_t host_steps_ = 0;
  std::vector<tensor::Tensor> open_outputs_;
};

}  // namespace hone::device::cuda
