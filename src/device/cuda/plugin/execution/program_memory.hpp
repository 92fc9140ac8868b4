// The memory of a program's operands on the device.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/program/program.hpp"

namespace hone::device::cuda {

/// Activations, scratch area and constants. The program outlives it.
class ProgramMemory {
 public:
  ProgramMemory(const engine::Program& program, Gpu& gpu);

  const DeviceBytes& arena() const { return arena_; }
  const DeviceBytes& scratch() const { return scratch_; }
  /// Run::counters of a step.
  void* counters(const engine::ProgramStep& step) const { return counters_.data() + step.counters_at; }
  /// Null for operands that are absent, or whose size is only known in a run.
  void* address(const engine::Operand& operand, const engine::IoAddresses& io) const;

 private:
  DeviceBytes arena_;
  DeviceBytes scratch_;
  DeviceBytes counters_;
  /// All constants that steps read plain, in one piece, which programs with the same constants share.
  std::shared_ptr<const DeviceBytes> constants_;
  /// By address on the host and bytes: of two constants at one address, one may end after the other.
  std::map<std::pair<const void*, int64_t>, int64_t> constant_offsets_;
};

/// Where inputs and outputs lie, and the addresses of every step's operands with them.
struct BoundSteps {
  struct Step {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    /// A copy of an input to the output that is in its memory.
    bool is_done = false;
  };

  BoundSteps(const engine::Program& program, const ProgramMemory& memory, engine::IoAddresses addresses);

  engine::IoAddresses io;
  std::vector<Step> steps;
};

}  // namespace hone::device::cuda
