// Whether a kernel uses Tensor Cores, and whether an operator could, told by names. Only the instructions of
// a kernel or a counter know for certain, so every figure made from this is labelled "by name".
#pragma once

#include <string_view>

namespace hone::analysis {

/// Names of libraries from 2018 (h884) to today (nvjet, gmma, FlashAttention, Triton's templates), and of our
/// own kernels. Names that say SIMT or FFMA do not.
bool uses_tensor_cores_by_name(std::string_view kernel);

/// Operators of frameworks that are matrix products or convolutions.
bool is_tensor_core_eligible(std::string_view operator_name);

}  // namespace hone::analysis
