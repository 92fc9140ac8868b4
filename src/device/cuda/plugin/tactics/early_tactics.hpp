// Which tactics' kernels start while the step before still runs.
#pragma once

#include <string_view>

namespace hone::device::cuda {

/// Of a tactic's whole name ("warpgroup_gemm:64x64_s8"): whether its first kernel waits for the kernel ahead
/// itself (EarlyKernel), so that it may be let in early. With a pool behind it ("warpgroup_gemm+pool:…") as
/// without.
bool starts_early(std::string_view tactic);

}  // namespace hone::device::cuda
