// Opens a trace, whoever wrote it: our store, PyTorch's profiler, Nsight Systems. Told apart by content,
// since names of files say little.
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace hone::trace {

/// A normalized trace. Bad input, with a remedy where there is one, when the file is of another kind.
Trace open_trace(const std::filesystem::path& path);

}  // namespace hone::trace
