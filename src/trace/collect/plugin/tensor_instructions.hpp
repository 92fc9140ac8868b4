// Looks for Tensor Core instructions in the code of kernels that the driver loads.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::inject {

/// The functions of a CUDA binary (an ELF file for one architecture from sm_70 to sm_121) by their mangled
/// names, and whether their own code, without the functions that they call, holds an instruction for Tensor
/// Cores. Empty for any other file, and if the file is damaged.
std::map<std::string, bool, std::less<>> tensor_functions(std::string_view cubin);

/// Stores the result of tensor_functions() for a loaded module. May be called from any thread.
void note_module(std::string_view cubin);

/// Returns whether a kernel uses Tensor Cores according to the modules noted so far; unknown if two of them
/// differ. `id` is text_id(name).
raw::TensorUse tensor_use(std::string_view name, uint32_t id);

}  // namespace hone::trace::inject
