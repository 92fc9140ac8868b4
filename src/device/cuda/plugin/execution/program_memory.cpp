// See program_memory.hpp.
#include "device/cuda/plugin/execution/program_memory.hpp"

#include <cstring>

namespace hone::device::cuda {
namespace {

using engine::Operand;
using engine::ProgramStep;
using tensor::DType;
using tensor::Tensor;

constexpr int64_t kAlignment = 256;

}  // namespace

ProgramMemory::ProgramMemory(const engine::Program& program, Gpu& gpu)
    : arena_(gpu.memory(), program.memory_plan().peak_bytes),
      scratch_(gpu.memory(), program.scratch_bytes()),
      counters_(gpu.memory(), program.counter_bytes()) {
  if (counters_.size() != 0) clear(counters_);
  int64_t size = 0;
  for (const ProgramStep& step : program.steps()) {
    for (const Operand& operand : step.inputs) {
      if (operand.storage != Operand::Storage::kConstant || operand.data == nullptr) continue;
      const int64_t bytes = operand.desc.bytes();
      if (bytes == 0 || !constant_offsets_.try_emplace({operand.data, bytes}, size).second) continue;
      size += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
  Tensor packed(DType::kUInt8, {size});
  std::memset(packed.mutable_bytes(), 0, packed.byte_size());  // including padding: equal content is shared
  for (const auto& [source, offset] : constant_offsets_)
    std::memcpy(packed.mutable_bytes() + offset, source.first, static_cast<size_t>(source.second));
  constants_ = gpu.copies().of_content(packed);
}

void* ProgramMemory::address(const Operand& operand, const engine::IoAddresses& io) const {
  const auto index = static_cast<size_t>(operand.position);
  switch (operand.storage) {
    case Operand::Storage::kArena: return arena_.data() + operand.position;
    case Operand::Storage::kInput: return const_cast<void*>(io.inputs[index]);
    case Operand::Storage::kOutput: return io.outputs[index];
    case Operand::Storage::kConstant: {
      const auto found = constant_offsets_.find({operand.data, operand.desc.bytes()});
      return found == constant_offsets_.end() ? nullptr : constants_->data() + found->second;
    }
    case Operand::Storage::kAbsent:
    case Operand::Storage::kDynamic: break;
  }
  return nullptr;
}

BoundSteps::BoundSteps(const engine::Program& program, const ProgramMemory& memory,
                       engine::IoAddresses addresses)
    : io(std::move(addresses)) {
  for (const ProgramStep& from : program.steps()) {
    Step& to = steps.emplace_back();
    for (const Operand& operand : from.inputs) to.inputs.push_back(memory.address(operand, io));
    for (const Operand& operand : from.outputs) to.outputs.push_back(memory.address(operand, io));
    to.is_done = from.copies_bytes() && to.inputs[0] == to.outputs[0];
  }
}

}  // namespace hone::device::cuda
