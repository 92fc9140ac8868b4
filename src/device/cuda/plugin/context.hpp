// CUDA's context of this process.
#pragma once

namespace hone::device::cuda {

/// Makes the first GPU current, waited for by polling, and its context where there is none yet.
/// `own_process`: such a context keeps no memory for stacks that no kernel asks for, which are 1 KB of every
/// thread that the GPU can hold (277 MB of an H200). Environment error when that is not possible.
void enter_context(bool own_process);

}  // namespace hone::device::cuda
