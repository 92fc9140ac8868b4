// See program_steps.hpp.
#include "device/cuda/plugin/execution/program_steps.hpp"

#include <nvtx3/nvToolsExt.h>

#include "device/cuda/plugin/queue.hpp"

namespace hone::device::cuda {
namespace {

using engine::Operand;
using engine::ProgramStep;
using tensor::DType;
using tensor::Tensor;

/// An NVTX range that is open while a step is submitted, so that profilers can assign kernels to steps, also
/// in a captured graph.
class StepRange {
 public:
  explicit StepRange(const ProgramStep& step) { nvtxRangePushA(step.name.c_str()); }
  ~StepRange() { nvtxRangePop(); }
  StepRange(const StepRange&) = delete;
  StepRange& operator=(const StepRange&) = delete;
};

/// The copy is finished when it returns.
void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream), "a copy");
  check(cudaStreamSynchronize(stream), "the GPU work");
}

}  // namespace

ProgramSteps::ProgramSteps(const engine::Program& program, Gpu& gpu)
    : program_(program), gpu_(gpu), memory_(program, gpu), dynamic_(program) {
  for (const ProgramStep& step : program.steps()) {
    host_steps_ += step.runs_on_host() ? 1 : 0;
    states_.push_back(step.kernel == nullptr ? nullptr : step.kernel->make_state());
  }
  open_outputs_.resize(program.graph().outputs.size());
}

void ProgramSteps::run(const BoundSteps& bound, cudaStream_t stream) {
  for (size_t i = 0; i < bound.steps.size(); ++i) run_step(i, bound, stream);
}

void ProgramSteps::run_step(size_t index, const BoundSteps& bound, cudaStream_t stream, StampSource* stamps) {
  const ProgramStep& step = program_.steps()[index];
  const BoundSteps::Step& operands = bound.steps[index];
  if (operands.is_done) return;
  const StepRange range(step);
  if (step.kernel == nullptr) return run_dynamic(step, bound, stream);
  if (step.kernel->runs_on_host()) return run_on_host(index, bound, stream);
  const EarlyKernel* const next = neighbour(index, bound, 1);
  const EarlyKernel* const ahead = neighbour(index, bound, -1);
  const CudaQueue queue(stream, gpu_.properties(), stamps);
  step.kernel->run({.inputs = operands.inputs,
                    .outputs = operands.outputs,
                    .scratch = memory_.scratch().data(),
                    .counters = memory_.counters(step),
                    .state = states_[index].get(),
                    .queue = &queue,
                    .neighbours = {.next_waits = next != nullptr && next->waits(),
                                   .previous_leaves_room = ahead != nullptr && ahead->leaves_room()}});
}

const EarlyKernel* ProgramSteps::neighbour(size_t index, const BoundSteps& bound, int direction) const {
  const auto count = static_cast<std::ptrdiff_t>(bound.steps.size());
  auto step = static_cast<std::ptrdiff_t>(index) + direction;
  while (step >= 0 && step < count && bound.steps[static_cast<size_t>(step)].is_done) step += direction;
  if (step < 0 || step >= count) return nullptr;
  return dynamic_cast<const EarlyKernel*>(program_.steps()[static_cast<size_t>(step)].kernel.get());
}

void ProgramSteps::run_dynamic(const ProgramStep& step, const BoundSteps& bound, cudaStream_t stream) {
  dynamic_.run(
      step, [&](const Operand& operand) { return fetch(operand, bound, stream); },
      [&](const Operand& operand, const Tensor& value) { store(operand, value, bound, stream); });
}

void ProgramSteps::run_on_host(size_t index, const BoundSteps& bound, cudaStream_t stream) {
  const ProgramStep& step = program_.steps()[index];
  std::vector<Tensor> inputs(step.inputs.size());
  std::vector<const void*> input_pointers(step.inputs.size(), nullptr);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i].storage == Operand::Storage::kAbsent) continue;
    inputs[i] = fetch(step.inputs[i], bound, stream);
    input_pointers[i] = inputs[i].bytes();
  }
  std::vector<Tensor> outputs(step.outputs.size());
  std::vector<void*> output_pointers(step.outputs.size(), nullptr);
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i].storage == Operand::Storage::kAbsent) continue;
    outputs[i] = Tensor(step.outputs[i].desc.dtype, step.outputs[i].desc.shape);
    output_pointers[i] = outputs[i].mutable_bytes();
  }
  step.kernel->run({.inputs = input_pointers, .outputs = output_pointers, .state = states_[index].get()});
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i].storage != Operand::Storage::kAbsent)
      store(step.outputs[i], outputs[i], bound, stream);
  }
}

Tensor ProgramSteps::fetch(const Operand& operand, const BoundSteps& bound, cudaStream_t stream) const {
  if (operand.storage == Operand::Storage::kConstant) {
    return {operand.desc.dtype, operand.desc.shape, static_cast<const std::byte*>(operand.data), nullptr};
  }
  Tensor value(operand.desc.dtype, operand.desc.shape);
  copy(value.mutable_bytes(), memory_.address(operand, bound.io), value.byte_size(), cudaMemcpyDeviceToHost,
       stream);
  return value;
}

void ProgramSteps::store(const Operand& operand, const Tensor& value, const BoundSteps& bound,
                         cudaStream_t stream) {
  if (operand.desc.dtype == DType::kUndefined) {
    open_outputs_[static_cast<size_t>(operand.position)] = value.clone();
    return;
  }
  copy(memory_.address(operand, bound.io), value.bytes(), value.byte_size(), cudaMemcpyHostToDevice, stream);
}

}  // namespace hone::device::cuda
