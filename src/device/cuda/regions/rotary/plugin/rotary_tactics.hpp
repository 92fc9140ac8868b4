// Regions rotary, the rotations of rows by their positions.
#pragma once

#include "device/cuda/regions/rotary/plugin/kernels/rotary.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// A rotation as the kernel takes it, and where its operands are among the inputs of the step.
struct Rotation {
  size_t x = 0;
  size_t cosine = 0;
  size_t sine = 0;
  RotarySize size;
};

/// Empty when the step, a region, is such a rotation.
Refusal read_rotation(const engine::StepRequest& request, Rotation& out);

/// Takes regions rotary.
engine::Tactic rotary_tactic();

}  // namespace hone::device::cuda
