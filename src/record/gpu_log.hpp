// Records clocks, power, temperature and memory of the machine's GPUs during a recording, as reported by
// NVML.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "system/nvml.hpp"
#include "trace/trace.hpp"

namespace hone::record {

/// Queries NVML from its construction on, in a thread of this process, so that the recorded process is not
/// disturbed.
class GpuLog {
 public:
  /// Nothing is recorded if `library` is not NVML or finds no GPU.
  explicit GpuLog(const std::string& library = system::Nvml::library_path(),
                  std::chrono::milliseconds interval = std::chrono::milliseconds(20));

  /// Ends the queries and adds a counter for each figure of each GPU of the trace. GPUs are identified by
  /// their UUIDs, because CUDA numbers them differently. A trace with a GPU that NVML does not know gets a
  /// doubt.
  void add_to(trace::Trace& trace);

 private:
  struct Gpu {
    std::unique_ptr<system::Nvml> nvml;
    std::string uuid;
    std::vector<std::pair<trace::Time, system::GpuSample>> samples;
  };

  void ask(const std::stop_token& stop, std::chrono::milliseconds interval);

  std::vector<Gpu> gpus_;
  std::string problem_;
  std::jthread thread_;  ///< declared last, so that it is destroyed before the members that it uses
};

}  // namespace hone::record
