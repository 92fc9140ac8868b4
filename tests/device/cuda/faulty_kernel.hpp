// A kernel that ends the process's use of the GPU.
#pragma once

namespace hone::device::cuda {

/// Launches one that writes where nothing is, and returns when it has faulted; what the runtime then knows is
/// forgotten.
void let_a_kernel_fault();

}  // namespace hone::device::cuda
