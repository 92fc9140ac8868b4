// Looks for instructions for Tensor Cores in kernels, in the code that the driver loads.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::inject {

/// The functions of a CUDA binary (an ELF file for one architecture from sm_70 to sm_121) by their mangled
/// names: whether an instruction for Tensor Cores is among their own, functions that they call left out.
/// Empty for anything else, and where the file is damaged.
std::map<std::string, bool, std::less<>> tensor_functions(std::string_view cubin);

/// Keeps what tensor_functions() says of a module that has been loaded. May be called from any thread.
void note_module(std::string_view cubin);

/// Returns whether the modules noted so far let a kernel use Tensor Cores; unknown where two of them differ.
/// `id` is text_id(name).
raw::TensorUse tensor_use(std::string_view name, uint32_t id);

}  // namespace hone::trace::inject
