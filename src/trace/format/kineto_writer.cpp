// See kineto_writer.hpp.
#include "trace/format/kineto_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>

#include "base/error.hpp"
#include "trace/format/kineto_document.hpp"
#include "trace/format/kineto_layout.hpp"

namespace hone::trace {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
  return name.data();
}

/// Processes with host events, in order of first appearance; at least one.
std::vector<int64_t> processes_of(const Trace& trace) {
  std::vector<int64_t> processes;
  for (const Thread& thread : trace.threads) {
    if (thread.process >= 0 &&
        std::find(processes.begin(), processes.end(), thread.process) == processes.end())
      processes.push_back(thread.process);
  }
  if (processes.empty()) processes.push_back(trace.contexts.empty() ? 0 : trace.contexts[0].process);
  return processes;
}

/// The name of the worker, changed so that it is one part of a file name.
std::string worker_name(const KinetoOptions& options, int64_t process, bool several) {
  std::string name = options.worker.empty() ? host_name() : options.worker;
  if (options.worker.empty() || several) name += fmt::format("_{}", process);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

int64_t wall_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::vector<std::filesystem::path> write_kineto(const Trace& trace, const std::filesystem::path& folder,
                                                const KinetoOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_environment("{}: {}", folder.string(), error.message());
  const HostLayout layout = lay_out(trace);
  const std::vector<int64_t> processes = processes_of(trace);
  const int64_t stamp = options.stamp != 0 ? options.stamp : wall_clock();
  std::vector<std::filesystem::path> paths;
  for (const int64_t process : processes) {
    KinetoDocument::Settings settings;
    settings.process = process;
    settings.first = paths.empty();
    settings.rank = static_cast<int64_t>(paths.size());
    settings.whole_microseconds = options.whole_microseconds;
    settings.path =
        folder / fmt::format("{}.{}.pt.trace.json{}", worker_name(options, process, processes.size() > 1),
                             stamp, options.gzip ? ".gz" : "");
    TextSink sink(settings.path, options.gzip);
    KinetoDocument(trace, layout, sink, settings).write();
    sink.finish();
    paths.push_back(settings.path);
  }
  return paths;
}

}  // namespace hone::trace
