// Hands the steps of a program over to a stream, each with its operands, scratch area, counters and state.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/plugin/execution/program_memory.hpp"
#include "device/cuda/plugin/gpu.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/program/dynamic_values.hpp"

namespace hone::device::cuda {

/// The part that all runs of a program share, so that they follow each other. The program and the GPU outlive
/// it.
class ProgramSteps {
 public:
  ProgramSteps(const engine::Program& program, Gpu& gpu);

  /// All of them; those that the host computes wait for the stream.
  void run(const BoundSteps& bound, cudaStream_t stream);
  /// Launches leave stamps where `stamps` says; null: nowhere.
  void run_step(size_t index, const BoundSteps& bound, cudaStream_t stream, StampSource* stamps = nullptr);

  const engine::Program& program() const { return program_; }
  Gpu& gpu() const { return gpu_; }
  const ProgramMemory& memory() const { return memory_; }
  /// Steps that the host computes: with any of them the program as a whole cannot be captured.
  int64_t host_steps() const { return host_steps_; }
  /// Outputs of the last run whose shape depends on data, by index.
  const std::vector<tensor::Tensor>& open_outputs() const { return open_outputs_; }

 private:
  /// The kernel of the step that runs before (direction -1) or after it (1); null where there is none, or its
  /// kernel is another.
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
  /// The state of each step's kernel; null where it has none.
  std::vector<std::unique_ptr<engine::KernelState>> states_;
  int64_t host_steps_ = 0;
  std::vector<tensor::Tensor> open_outputs_;
};

}  // namespace hone::device::cuda
