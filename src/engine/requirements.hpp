// Conditions on steps that tactics of several operators set.
#pragma once

#include "engine/kernel.hpp"

namespace hone::engine {

/// The graph has output 0 in float32, whatever it is between steps.
Refusal only_float32(const StepRequest& request);
/// Floating-point values have two bytes between steps.
Refusal only_fp16_and_bf16(const StepRequest& request);
Refusal nonempty_input(const StepRequest& request);
Refusal nonempty_output(const StepRequest& request);
/// Input 0 has one to three axes behind batch and channels.
Refusal one_to_three_axes(const StepRequest& request);

}  // namespace hone::engine
