// Reads traces of PyTorch's profiler (Kineto), as written from 2021 to 2026: docs/TRACE.md says what becomes
// of which event.
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace hone::trace {

/// A normalized trace of a `.json` or `.json.gz` file, read in a stream, so that memory goes by the number of
/// events and not by the size of the file. Omissions, and a file that breaks off, are reported in `doubts`.
/// Bad input when the file holds no trace at all.
Trace read_kineto(const std::filesystem::path& path);

}  // namespace hone::trace
