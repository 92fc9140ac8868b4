// Hardware counters of a GPU over time. The GPU samples them itself (CUPTI's PM sampling).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/collect/plugin/profiler_host.hpp"

namespace hone::trace::inject {

/// The names of a counter in a trace and in CUPTI.
struct CounterMetric {
  const char* name;
  const char* unit;
  const char* metric;
  bool bytes;  ///< CUPTI counts bytes per sample; the trace has GB/s
};

/// Samples one GPU. All functions throw std::runtime_error with a sentence about the fault.
class PmSampler {
 public:
  explicit PmSampler(uint32_t device) : device_(device) {}
  /// Also ends sampling that an error left running: the GPU would sample as long as the process lives, and no
  /// other process could use the counters.
  ~PmSampler();
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  /// Starts sampling, one sample every `interval_ns`. Metrics that this GPU lacks, or that do not fit into
  /// one pass with those before them, are left out and reported as losses.
  void start(uint64_t interval_ns);
  /// Writes the samples since the last call.
  void drain();
  /// Ends sampling and writes the remaining samples.
  void stop();

 private:
  void choose_metrics();
  /// Configures host_ for these metrics; returns the number of passes that they take.
  size_t configure(const std::vector<CounterMetric>& metrics);
  void set_config(uint64_t interval_ns);
  void reset_data();
  /// True if nothing is left to read.
  bool decode();
  void write_samples();
  /// Stops sampling if it has not been stopped; returns CUPTI's result.
  CUptiResult stop_sampling();

  uint32_t device_;
  std::vector<CounterMetric> metrics_;
  std::vector<uint32_t> texts_;  ///< of metrics_: text ids of names and of units
  std::vector<uint32_t> units_;
  std::vector<uint8_t> data_;
  std::unique_ptr<ProfilerHost> host_;
  CUpti_PmSampling_Object* sampling_ = nullptr;
  bool started_ = false;
  bool is_first_ = true;
  bool overflowed_ = false;
};

}  // namespace hone::trace::inject
