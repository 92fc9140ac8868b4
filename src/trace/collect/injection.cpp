// See injection.hpp.
#include "trace/collect/injection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "trace/collect/raw_reader.hpp"

namespace hone::trace {

std::vector<std::string> injection_variables(const std::filesystem::path& folder,
                                             const InjectionOptions& options) {
  check_capture(options.capture);
  constexpr double kLowest = 10;
  constexpr double kHighest =
      200'000;  // the limit of Nsight Systems, too: samples must be read before they are lost
  if (options.counter_rate != 0 && !(options.counter_rate >= kLowest && options.counter_rate <= kHighest))
    fail_usage("--counter-rate must be between {:.0f} and {:.0f} a second", kLowest, kHighest);
  const std::string library = base::plugin_file("inject");
  std::vector<std::string> result = {
      "CUDA_INJECTION64_PATH=" + library, "NVTX_INJECTION64_PATH=" + library,
      "HONE_TRACE_FOLDER=" + folder.string(),
      std::string("HONE_TRACE_DRIVER_API=") + (options.driver_api ? "1" : "0")};
  if (options.counter_rate > 0) result.push_back(fmt::format("HONE_TRACE_COUNTERS={}", options.counter_rate));
  if (!options.metrics.empty())
    result.push_back(fmt::format("HONE_TRACE_METRICS={}", fmt::join(hardware_metrics(options.metrics), ",")));
  if (!options.metrics_while.empty())
    result.push_back("HONE_TRACE_METRICS_WHILE=" + options.metrics_while.string());
  for (std::string& variable : capture_variables(options.capture, base::monotonic_ns()))
    result.push_back(std::move(variable));
  return result;
}

std::string preload_variable() {
  const std::string library = base::plugin_file("threads");
  // The loader treats both characters as the end of a name and has no way to escape them.
  if (library.find_first_of(" :") != std::string::npos)
    fail_environment("{} cannot be preloaded: its path holds a blank or a colon", library);
  const char* others = std::getenv("LD_PRELOAD");
  const bool alone = others == nullptr || *others == '\0';
  return "LD_PRELOAD=" + library + (alone ? "" : std::string(":") + others);
}

std::vector<std::string> injected_command(const std::vector<std::string>& command,
                                          const std::filesystem::path& folder,
                                          const InjectionOptions& options) {
  std::vector<std::string> result = {"env"};
  for (std::string& variable : injection_variables(folder, options)) result.push_back(std::move(variable));
  result.insert(result.end(), command.begin(), command.end());
  return result;
}

std::vector<std::filesystem::path> injected_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".honeraw") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

size_t process_count(const std::vector<std::filesystem::path>& files) {
  std::set<std::string> processes;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    processes.insert(name.substr(0, name.find_first_not_of("0123456789")));
  }
  return processes.size();
}

Trace read_injected(const std::filesystem::path& folder) { return read_raw(injected_files(folder)); }

}  // namespace hone::trace
