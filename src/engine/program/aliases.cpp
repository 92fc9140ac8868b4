// See aliases.hpp.
#include "engine/program/aliases.hpp"

#include <algorithm>

namespace hone::engine {
namespace {

bool is_at(const Operand& operand, Operand::Storage storage, size_t index) {
  return operand.storage == storage && operand.position == static_cast<int64_t>(index);
}

/// True if the step may write the output while it reads the input at the same address. The reference computes
/// its results before it stores them.
bool is_in_place(const ProgramStep& step, size_t output, size_t operand) {
  if (step.runs_on_host() || step.copies_bytes()) return true;
  return std::any_of(step.in_place.begin(), step.in_place.end(), [&](const SharedOperand& shared) {
    const Operand& written = step.outputs[shared.output];
    return shared.input == operand && is_at(written, Operand::Storage::kOutput, output) &&
           written.desc.bytes() == step.inputs[operand].desc.bytes();
  });
}

}  // namespace

std::string alias_fault(const Program& program, size_t output, size_t input) {
  bool written = false;
  for (const ProgramStep& step : program.steps()) {
    const bool writes = std::any_of(step.outputs.begin(), step.outputs.end(), [&](const Operand& operand) {
      return is_at(operand, Operand::Storage::kOutput, output);
    });
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (!is_at(step.inputs[i], Operand::Storage::kInput, input)) continue;
      if (written) return fmt::format("step '{}' reads the input after the output is written", step.name);
      if (writes && !is_in_place(step, output, i))
        return fmt::format("step '{}' reads the input while it writes the output", step.name);
    }
    // A copy from this input to this output changes nothing if both are at the same address.
    const bool same = step.copies_bytes() && is_at(step.inputs[0], Operand::Storage::kInput, input) && writes;
    written = written || (writes && !same);
  }
  return {};
}

}  // namespace hone::engine
