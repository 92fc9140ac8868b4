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
/// The bias, input 2, holds nothing beyond the range of the results' type: sums with it would become
/// infinite.
Refusal bias_in_range(const StepRequest& request);
/// True if an operand that is read in float32 may hold finite values beyond that range.
bool is_beyond_storage(const StepRequest& request, size_t operand);
/// Input 0 has one to three axes after batch and channels.
Refusal one_to_three_axes(const StepRequest& request);

}  // namespace hone::engine
