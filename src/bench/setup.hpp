// The setup that identifies a configuration. The options, the worker's request, the run, the result file and
// the figures all use this struct; setup_schema.hpp describes its fields. Plain data.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace hone::bench {

struct Setup {
  std::string model;  ///< as the user named it
  std::string backend;
  std::string precision = "fp32";
  int64_t batch = 1;
  std::string device = "cpu";  ///< in the form of tensor::place_text()
  int threads = 1;
  bool transfers = false;  ///< true if a latency includes copies to the device and back
  bool cold_l2 = false;    ///< true if the device's caches are emptied before every run
  int streams = 1;         ///< for the pipelined runs
  int busy = 0;            ///< number of foreign threads that spin during the measurement

  auto operator<=>(const Setup&) const = default;
  bool on_cpu() const;
  /// "resnet50 torch fp32 batch 8".
  std::string text() const;
};

/// Properties in which two runs may differ and still be comparable.
struct MayDiffer {
  bool model = false;   ///< if the caller identifies models by more than their names
  bool system = false;  ///< backend and precision
  bool batch = false;
};

/// Returns the setup with default values for the parts that may differ, and for parts that do not affect
/// latencies: transfers on the CPU, where nothing is transferred, and streams, which only pipelined runs use.
Setup comparable_part(Setup setup, const MayDiffer& may_differ);

/// True if the latencies of both can be compared.
bool comparable(const Setup& a, const Setup& b, const MayDiffer& may_differ);

}  // namespace hone::bench
