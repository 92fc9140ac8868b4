// Opens a trace of any supported recorder: our store, PyTorch's profiler, Nsight Systems. The kind is
// recognized by the content, since file names are not reliable.
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace hone::trace {

/// A normalized trace. Throws bad input, with advice if there is any, if the file is of another kind.
Trace open_trace(const std::filesystem::path& path);

}  // namespace hone::trace
