// Clocks, power, temperature and memory of the machine's GPUs while something is recorded, as NVML reports
// them.
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

/// Asks from its making on, in a thread of this process, so that the recorded one does nothing for it.
class GpuLog {
 public:
  /// Nothing is asked where `library` is no NVML or finds no GPU.
  explicit GpuLog(const std::string& library = system::Nvml::library_path(),
                  std::chrono::milliseconds interval = std::chrono::milliseconds(20));

  /// Ends asking, and adds a counter for each figure of each GPU of the trace. GPUs are told apart by their
  /// UUIDs, since CUDA numbers them in its own way. A trace with GPUs that NVML does not know of gets a
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
  std::jthread thread_;  ///< last, so that it ends before what it uses
};

}  // namespace hone::record
