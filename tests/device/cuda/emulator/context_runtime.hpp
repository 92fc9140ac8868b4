// The context of CUDA's runtime: a test says whether there is one already, and sees what is asked of it.
#pragma once

#include <cuda.h>

#include <optional>

namespace hone::device::cuda::emulator {

struct ContextRuntime {
  std::optional<bool> active = false;  ///< none: the driver has no function that tells
  std::optional<size_t> stack;         ///< as it was set
  bool polls = false;
  bool has_limits = true;  ///< else none may be set
};
ContextRuntime& context_runtime();

CUresult primary_context_state(CUdevice device, unsigned* flags, int* active);

}  // namespace hone::device::cuda::emulator
