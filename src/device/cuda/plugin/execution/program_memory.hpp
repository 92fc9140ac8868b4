// The memory of a program's operands on the device.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/program/program.hpp"

namespace hone::device::cuda {

/// Activations, scratch memory and constants. The program must outlive it.
class ProgramMemory {
 public:
  ProgramMemory(const engine::Program& program, Gpu& gpu);

  const DeviceBytes& arena() const { return arena_; }
  const DeviceBytes& scratch() const { return scratch_; }
  /// Run::counters of a step.
  void* counters(const engine::ProgramStep& step) const { return counters_.data() + step.counters_at; }
  /// Null for operands that are absent, or whose size is known only at run time.
  void* address(const engine::Operand& operand, const engine::IoAddresses& io) const;

 private:
  DeviceBytes arena_;
  DeviceBytes scratch_;
  DeviceBytes counters_;
  /// All constants that steps read in plain form, in one allocation that programs with the same constants
  /// share.
  std::shared_ptr<const DeviceBytes> constants_;
  /// Keys are the address on the host and the size, because constants of different sizes may begin at one
  /// address.
  std::map<std::pair<const void*, int64_t>, int64_t> constant_offsets_;
};

/// The addresses of inputs and outputs, and of every step's operands.
struct BoundSteps {
  struct Step {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    /// True for a copy of an input to an output that uses the same memory.
    bool is_done = false;
  };

  BoundSteps(const engine::Program& program, const ProgramMemory& memory, engine::IoAddresses addresses);

  engine::IoAddresses io;
  std::vector<Step> steps;
};

}  // namespace hone::device::cuda
