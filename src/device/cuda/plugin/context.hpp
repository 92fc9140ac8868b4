// The CUDA context of a GPU.
#pragma once

#include <cuda.h>

namespace hone::device::cuda {

/// Returns the primary context of the GPU, set to wait by polling; makes it if necessary. It is not made
/// current (DeviceGuard), and lives as long as the process. With `own_process`, the context reserves no
/// memory for stacks that no kernel needs; CUDA would reserve 1 KB for every thread that the GPU can hold
/// (277 MB on an H200). Environment error if the context cannot be made.
CUcontext enter_context(int ordinal, bool own_process);

}  // namespace hone::device::cuda
