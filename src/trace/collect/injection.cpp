// See injection.hpp.
#include "trace/collect/injection.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "trace/collect/raw_reader.hpp"

namespace hone::trace {

std::vector<std::string> injection_variables(const std::filesystem::path& folder,
                                             const InjectionOptions& options) {
  const std::filesystem::path library = std::filesystem::path(base::library_folder()) / "libhone-inject.so";
  if (!std::filesystem::exists(library))
    fail_environment(
        "libhone-inject.so was not built (it needs CUPTI and NVTX, which come with the CUDA toolkit)");
  std::vector<std::string> result = {
      "CUDA_INJECTION64_PATH=" + library.string(), "NVTX_INJECTION64_PATH=" + library.string(),
      "HONE_TRACE_FOLDER=" + folder.string(),
      std::string("HONE_TRACE_DRIVER_API=") + (options.driver_api ? "1" : "0")};
  for (std::string& variable : capture_variables(options.capture, base::nanoseconds(base::Clock::now())))
    result.push_back(std::move(variable));
  return result;
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

Trace read_injected(const std::filesystem::path& folder) { return read_raw(injected_files(folder)); }

}  // namespace hone::trace
