// Metrics of single kernels with CUPTI's range profiler, which runs a kernel once for each pass that its
// metrics need.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/collect/plugin/profiler_host.hpp"

namespace hone::trace::inject {

/// Measures ranges in one context. All functions throw std::runtime_error with a sentence about the fault.
class RangeProfiler {
 public:
  /// Takes current names of metrics. Metrics that the GPU does not know are left out and reported as losses.
  /// The context must be current in this thread.
  RangeProfiler(CUcontext context, uint32_t device, const std::vector<std::string>& metrics);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  uint32_t device() const { return device_; }
  /// The metrics that are measured.
  const std::vector<std::string>& metrics() const { return metrics_; }

  /// Starts measuring the kernels that are launched in the context, until end().
  void begin();
  /// The values of each of these kernels, in the order of metrics().
  std::vector<std::vector<double>> end();

 private:
  void choose(const std::vector<std::string>& metrics);
  void enable(CUcontext context);
  void set_config();
  void reset_data();

  uint32_t device_;
  std::vector<std::string> metrics_;
  std::unique_ptr<ProfilerHost> host_;
  std::vector<uint8_t> data_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
};

}  // namespace hone::trace::inject
