// Writes a trace as PyTorch's profiler (Kineto) does, so that Perfetto, TensorBoard's last profiler plugin
// and Holistic Trace Analysis open it. docs/TRACE.md lists the rules that these readers need kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

struct KinetoOptions {
  std::string worker;  ///< `<host>_<process id>` when empty; one more `_<process id>` with several processes
  int64_t stamp = 0;   ///< in the file's name, ns; the wall clock's when 0
  bool gzip = false;
  /// Times rounded down to whole microseconds: Holistic Trace Analysis drops intervals below one otherwise.
  bool whole_microseconds = false;
};

/// Writes `<folder>/<worker>.<stamp>.pt.trace.json[.gz]`, a file for each process with host events, and
/// returns their paths. The folder (`<logdir>/<run>`) is made where it is missing. Environment error when
/// they cannot be written. Data for which the format has no place are left out; whole tables are counted
/// among the doubts in the file.
std::vector<std::filesystem::path> write_kineto(const Trace& trace, const std::filesystem::path& folder,
                                                const KinetoOptions& options = {});

}  // namespace hone::trace
