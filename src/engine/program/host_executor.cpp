// Runs a program on host memory; see executor.hpp.
#include <chrono>
#include <cstring>

#include "base/out_of_memory.hpp"
#include "base/ranges.hpp"
#include "engine/program/dynamic_values.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

/// No single node asks for the arena, so a refusal names what it holds.
Tensor make_arena(int64_t bytes) {
  try {
    return {DType::kUInt8, {bytes}};
  } catch (const Error& error) {
    rethrow_within(error, "activations");
  }
}

class HostExecutor final : public Executor {
 public:
  HostExecutor(const Program& program, const tensor::Queue* queue)
      : program_(program),
        queue_(queue),
        arena_(make_arena(program.memory_plan().peak_bytes)),
        scratch_(DType::kUInt8, {program.scratch_bytes()}),
        counters_(DType::kUInt8, {program.counter_bytes()}),
        dynamic_(program) {
    size_t widest = 1;
    for (const ProgramStep& step : program.steps())
      widest = std::max({widest, step.inputs.size(), step.outputs.size()});
    input_pointers_.resize(widest);
    output_pointers_.resize(widest);
    for (const ProgramStep& step : program.steps())
      states_.push_back(step.kernel == nullptr ? nullptr : step.kernel->make_state());
    std::memset(counters_.mutable_bytes(), 0, counters_.byte_size());
  }

  void upload(std::span<const Tensor> inputs) override { inputs_.assign(inputs.begin(), inputs.end()); }

  void execute(std::vector<double>* step_times) override {
    outputs_ = program_.make_outputs();
    const std::vector<ProgramStep>& steps = program_.steps();
    if (step_times == nullptr) {
      for (size_t i = 0; i < steps.size(); ++i) run_step(i);
      return;
    }
    step_times->assign(steps.size(), 0.0);
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      run_step(i);
      const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
      (*step_times)[i] = elapsed.count();
    }
  }

  ExecutionTimes execute_timed() override {
    const auto begin = std::chrono::steady_clock::now();
    execute(nullptr);
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    return {elapsed.count(), 0};
  }

  void poison() override {
    std::memset(arena_.mutable_bytes(), kPoison, arena_.byte_size());
    std::memset(scratch_.mutable_bytes(), kPoison, scratch_.byte_size());
  }

  std::vector<Tensor> download() override { return std::move(outputs_); }

 private:
  void* address(const Operand& operand) {
    switch (operand.storage) {
      case Operand::Storage::kArena: return arena_.mutable_bytes() + operand.position;
      case Operand::Storage::kInput:
        return const_cast<std::byte*>(inputs_[static_cast<size_t>(operand.position)].bytes());
      case Operand::Storage::kOutput: return outputs_[static_cast<size_t>(operand.position)].mutable_bytes();
      case Operand::Storage::kConstant: return const_cast<void*>(operand.data);
      case Operand::Storage::kAbsent:
      case Operand::Storage::kDynamic: break;
    }
    return nullptr;
  }

  void run_step(size_t index) {
    const ProgramStep& step = program_.steps()[index];
    const base::Range range(step.name);
    if (step.kernel == nullptr) {
      dynamic_.run(
          step, [this](const Operand& operand) { return fetch(operand); },
          [this](const Operand& operand, const Tensor& value) { store(operand, value); });
      return;
    }
    for (size_t i = 0; i < step.inputs.size(); ++i) input_pointers_[i] = address(step.inputs[i]);
    for (size_t i = 0; i < step.outputs.size(); ++i) output_pointers_[i] = address(step.outputs[i]);
    step.kernel->run({.inputs = {input_pointers_.data(), step.inputs.size()},
                      .outputs = {output_pointers_.data(), step.outputs.size()},
                      .scratch = scratch_.mutable_bytes(),
                      .counters = counters_.mutable_bytes() + step.counters_at,
                      .state = states_[index].get(),
                      .queue = queue_});
  }

  Tensor fetch(const Operand& operand) {
    return {operand.desc.dtype, operand.desc.shape, static_cast<const std::byte*>(address(operand)), nullptr};
  }

  void store(const Operand& operand, const Tensor& value) {
    if (operand.desc.dtype == DType::kUndefined) {
      outputs_[static_cast<size_t>(operand.position)] = value.clone();
      return;
    }
    if (value.size() > 0) std::memcpy(address(operand), value.bytes(), value.byte_size());
  }

  const Program& program_;
  const tensor::Queue* queue_;
  Tensor arena_;
  Tensor scratch_;
  Tensor counters_;
  /// Of each step's kernel; null where it has none.
  std::vector<std::unique_ptr<KernelState>> states_;
  DynamicValues dynamic_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  /// Reused by run_step, so that a run allocates nothing but its outputs.
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
};

}  // namespace

std::unique_ptr<Executor> make_host_executor(const Program& program, const tensor::Queue* queue) {
  return std::make_unique<HostExecutor>(program, queue);
}

}  // namespace hone::engine
