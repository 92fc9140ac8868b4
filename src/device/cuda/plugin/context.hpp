// CUDA's context of a GPU.
#pragma once

#include <cuda.h>

namespace hone::device::cuda {

/// The primary context of that GPU, waited for by polling, made where there is none yet. It is not made
/// current (DeviceGuard), and stays for as long as the process lives. `own_process`: such a context keeps no
/// memory for stacks that no kernel asks for, which are 1 KB of every thread that the GPU can hold (277 MB of
/// an H200). Environment error when that is not possible.
CUcontext enter_context(int ordinal, bool own_process);

}  // namespace hone::device::cuda
