// Reads traces of PyTorch's profiler (Kineto), as written from 2021 to 2026. docs/TRACE.md describes how each
// kind of event is converted.
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace hone::trace {

/// A normalized trace from a `.json` or `.json.gz` file. The file is read as a stream, so memory depends on
/// the number of events and not on the size of the file. Omissions, and an incomplete file, are reported in
/// `doubts`. Throws bad input if the file holds no trace.
Trace read_kineto(const std::filesystem::path& path);

}  // namespace hone::trace
