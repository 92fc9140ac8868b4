// Requirements that tactics of several operators share.
#pragma once

#include "engine/kernel.hpp"

namespace hone::engine {

/// Output 0 must be float32 in the graph, whatever it is between steps.
Refusal only_float32(const StepRequest& request);
/// Floating-point values must have two bytes between steps.
Refusal only_fp16_and_bf16(const StepRequest& request);
Refusal nonempty_input(const StepRequest& request);
Refusal nonempty_output(const StepRequest& request);
/// The bias, input 2, must not exceed the range of the results' type, because sums with it would become
/// infinite.
Refusal bias_in_range(const StepRequest& request);
/// True if an operand that is read in float32 may contain finite values beyond the range of the storage type.
bool is_beyond_storage(const StepRequest& request, size_t operand);
/// Input 0 must have one to three axes after batch and channels.
Refusal one_to_three_axes(const StepRequest& request);

}  // namespace hone::engine
