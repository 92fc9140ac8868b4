// How one configuration is run: all that identifies it. One struct in the options, the worker's request, the
// run, the result file and the figures; setup_schema.hpp describes its fields. Plain data.
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
  std::string device = "cpu";  ///< as tensor::place_text() has it
  int threads = 1;
  bool transfers = false;  ///< whether a latency includes copies to the device and back
  bool cold_l2 = false;    ///< whether the device's caches are emptied before every run
  int streams = 1;         ///< of the pipelined runs
  int busy = 0;            ///< foreign threads that spin while runs are measured

  auto operator<=>(const Setup&) const = default;
  bool on_cpu() const;
  /// "resnet50 torch fp32 batch 8".
  std::string text() const;
};

/// Properties in which runs may differ and still be compared.
struct MayDiffer {
  bool model = false;   ///< where the caller knows more of models than their names
  bool system = false;  ///< backend and precision
  bool batch = false;
};

/// The setup with defaults for the parts that may differ and for those that no latency depends on: transfers
/// on the CPU, where nothing is transferred whatever was asked for, and streams, which only pipelined runs
/// have.
Setup comparable_part(Setup setup, const MayDiffer& may_differ);

/// True if latencies of both can be compared.
bool comparable(const Setup& a, const Setup& b, const MayDiffer& may_differ);

}  // namespace hone::bench
