// The context of CUDA's runtime: a test says whether there is one already, and sees what is asked of it.
#pragma once

#include <cuda.h>

#include <optional>
#include <string_view>
#include <vector>

namespace hone::device::cuda::emulator {

/// A machine with two GPUs.
struct ContextRuntime {
  std::optional<bool> active = false;  ///< none: the driver has no function that tells
  std::optional<size_t> stack = {};    ///< as it was set
  bool polls = false;
  bool has_limits = true;  ///< else none may be set
  int entered = -1;        ///< the GPU whose context was made last
  std::vector<CUcontext> stack_of_contexts = {};
  std::vector<CUcontext> pushed = {};  ///< since it was made
};
ContextRuntime& context_runtime();
/// The primary context of a GPU.
CUcontext context_of(int ordinal);

/// The driver's function of that name; null where it has none.
void* context_function(std::string_view name);

}  // namespace hone::device::cuda::emulator
