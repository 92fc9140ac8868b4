// Runs a program on host memory; see executor.hpp.
#include <omp.h>

#include <chrono>
#include <cstring>
#include <ctime>

#include "base/out_of_memory.hpp"
#include "base/ranges.hpp"
#include "engine/program/dynamic_values.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"
#include "system/thread_team.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

/// The arena belongs to no single node, so the error names its content.
Tensor make_arena(int64_t bytes) {
  try {
    return {DType::kUInt8, {bytes}};
  } catch (const Error& error) {
    rethrow_within(error, "activations");
  }
}

/// Microseconds of a step, for the search. A single thread measures its CPU time, because on a busy machine
/// the time slices of other programs are longer than most steps and would make the choice of tactics random.
/// Several threads wait for each other, so they are measured with the wall clock.
class Stopwatch {
 public:
  double elapsed_us() const { return now_us() - begin_; }

 private:
  double now_us() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  }

  clockid_t clock_ = omp_get_max_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  double begin_ = now_us();
};

/// The operands of one step.
struct Pointers {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

class HostExecutor final : public Executor {
 public:
  HostExecutor(const Program& program, const tensor::Queue* queue)
      : program_(program),
        queue_(queue),
        arena_(make_arena(program.memory_plan().peak_bytes)),
        scratch_(DType::kUInt8, {program.scratch_bytes()}),
        counters_(DType::kUInt8, {program.counter_bytes()}),
        dynamic_(program) {
    for (const ProgramStep& step : program.steps())
      states_.push_back(step.kernel == nullptr ? nullptr : step.kernel->make_state());
    std::memset(counters_.mutable_bytes(), 0, counters_.byte_size());
  }

  void upload(std::span<const Tensor> inputs) override { inputs_.assign(inputs.begin(), inputs.end()); }

  void execute(std::vector<double>* step_times) override {
    outputs_ = program_.make_outputs();
    io_.inputs.clear();
    io_.outputs.clear();
    for (const Tensor& input : inputs_) io_.inputs.push_back(input.bytes());
    for (Tensor& output : outputs_) io_.outputs.push_back(output.mutable_bytes());
    dynamic_.set_inputs(inputs_);
    const std::vector<ProgramStep>& steps = program_.steps();
    if (step_times == nullptr) {
      for (size_t i = 0; i < steps.size(); ++i) run_step(i, pointers_of(steps[i], io_), io_, outputs_);
      return;
    }
    step_times->assign(steps.size(), 0.0);
    for (size_t i = 0; i < steps.size(); ++i) {
      const Stopwatch watch;
      run_step(i, pointers_of(steps[i], io_), io_, outputs_);
      (*step_times)[i] = watch.elapsed_us();
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

  std::unique_ptr<BoundRuns> bind(IoAddresses io, std::vector<InputCopy> copies) override;

 private:
  friend class HostBoundRuns;

  void* address(const Operand& operand, const IoAddresses& io) {
    switch (operand.storage) {
      case Operand::Storage::kArena: return arena_.mutable_bytes() + operand.position;
      case Operand::Storage::kInput:
        return const_cast<void*>(io.inputs[static_cast<size_t>(operand.position)]);
      case Operand::Storage::kOutput: return io.outputs[static_cast<size_t>(operand.position)];
      case Operand::Storage::kConstant: return const_cast<void*>(operand.data);
      case Operand::Storage::kAbsent:
      case Operand::Storage::kDynamic: break;
    }
    return nullptr;
  }

  /// Uses memory that all calls share, so that a run allocates only its outputs.
  const Pointers& pointers_of(const ProgramStep& step, const IoAddresses& io) {
    fill(step_pointers_, step, io);
    return step_pointers_;
  }

  void fill(Pointers& pointers, const ProgramStep& step, const IoAddresses& io) {
    pointers.inputs.clear();
    pointers.outputs.clear();
    for (const Operand& operand : step.inputs) pointers.inputs.push_back(address(operand, io));
    for (const Operand& operand : step.outputs) pointers.outputs.push_back(address(operand, io));
  }

  /// Outputs whose shape depends on data are stored in `open_outputs`.
  void run_step(size_t index, const Pointers& pointers, const IoAddresses& io,
                std::vector<Tensor>& open_outputs) {
    const ProgramStep& step = program_.steps()[index];
    const base::Range range(step.name);
    if (step.kernel == nullptr) {
      dynamic_.run(
          step, [&](const Operand& operand) { return fetch(operand, io); },
          [&](const Operand& operand, const Tensor& value) { store(operand, value, io, open_outputs); });
      return;
    }
    const system::TeamScope team;
    step.kernel->run({.inputs = pointers.inputs,
                      .outputs = pointers.outputs,
                      .scratch = scratch_.mutable_bytes(),
                      .counters = counters_.mutable_bytes() + step.counters_at,
                      .state = states_[index].get(),
                      .queue = queue_});
  }

  Tensor fetch(const Operand& operand, const IoAddresses& io) {
    return {operand.desc.dtype, operand.desc.shape, static_cast<const std::byte*>(address(operand, io)),
            nullptr};
  }

  void store(const Operand& operand, const Tensor& value, const IoAddresses& io,
             std::vector<Tensor>& open_outputs) {
    if (operand.desc.dtype == DType::kUndefined) {
      open_outputs[static_cast<size_t>(operand.position)] = value.clone();
      return;
    }
    if (value.size() > 0) std::memcpy(address(operand, io), value.bytes(), value.byte_size());
  }

  const Program& program_;
  const tensor::Queue* queue_;
  Tensor arena_;
  Tensor scratch_;
  Tensor counters_;
  /// The state of each step's kernel; null if it has none.
  std::vector<std::unique_ptr<KernelState>> states_;
  DynamicValues dynamic_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  /// The addresses of inputs and outputs.
  IoAddresses io_;
  Pointers step_pointers_;
};

class HostBoundRuns final : public BoundRuns {
 public:
  HostBoundRuns(HostExecutor& executor, IoAddresses io, std::vector<InputCopy> copies)
      : executor_(executor), io_(std::move(io)), copies_(std::move(copies)), open_(io_.outputs.size()) {
    const std::vector<ProgramStep>& steps = executor.program_.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      BoundStep bound{.index = i};
      executor.fill(bound.pointers, steps[i], io_);
      // If an output uses the memory of an input, a copy between them is unnecessary.
      if (!steps[i].copies_bytes() || bound.pointers.inputs[0] != bound.pointers.outputs[0])
        steps_.push_back(std::move(bound));
    }
  }

  void run(const tensor::Queue*) override {
    for (const InputCopy& copy : copies_)
      copy.kernel->run({.inputs = {&copy.from, 1}, .outputs = {&copy.to, 1}});
    for (const BoundStep& step : steps_) executor_.run_step(step.index, step.pointers, io_, open_);
  }

  const Tensor& open_output(size_t index) const override { return open_[index]; }

 private:
  struct BoundStep {
    size_t index;
    Pointers pointers;
  };

  HostExecutor& executor_;
  IoAddresses io_;
  std::vector<InputCopy> copies_;
  std::vector<BoundStep> steps_;
  /// Indexed by output; defined only if the shape depends on data.
  std::vector<Tensor> open_;
};

std::unique_ptr<BoundRuns> HostExecutor::bind(IoAddresses io, std::vector<InputCopy> copies) {
  return std::make_unique<HostBoundRuns>(*this, std::move(io), std::move(copies));
}

}  // namespace

std::unique_ptr<Executor> make_host_executor(const Program& program, const tensor::Queue* queue) {
  return std::make_unique<HostExecutor>(program, queue);
}

}  // namespace hone::engine
