// Writes a trace as PyTorch's profiler (Kineto) does, so that Perfetto, the last profiler plugin of
// TensorBoard and Holistic Trace Analysis can open it. docs/TRACE.md lists the rules that these readers
// require.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

struct KinetoOptions {
  std::string
      worker;  ///< empty: `<host>_<process id>`; with several processes, another `_<process id>` is added
  int64_t stamp = 0;  ///< time in the name of the file, in ns; 0: the current time
  bool gzip = false;
  /// Times are rounded down to whole microseconds; otherwise Holistic Trace Analysis drops intervals below
  /// one microsecond.
  bool whole_microseconds = false;
};

/// Writes `<folder>/<worker>.<stamp>.pt.trace.json[.gz]`, one file for each process with host events, and
/// returns the paths. The folder (`<logdir>/<run>`) is created if it does not exist. Throws an environment
/// error if the files cannot be written. Data that the format cannot represent are left out; whole tables are
/// counted among the doubts in the file.
std::vector<std::filesystem::path> write_kineto(const Trace& trace, const std::filesystem::path& folder,
                                                const KinetoOptions& options = {});

}  // namespace hone::trace
