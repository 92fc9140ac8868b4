// The half of CUPTI's counters that needs no GPU: the metrics that a chip can count, their configuration, and
// the evaluation of the counted numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/collect/plugin/counter_library.hpp"

namespace hone::trace::inject {

/// Profiler data of one chip. All functions throw std::runtime_error with a sentence about the fault.
class ProfilerHost {
 public:
  /// `availability`: the counters that the GPU reports as available; empty without a GPU.
  ProfilerHost(CUpti_ProfilerType type, std::string chip, std::vector<uint8_t> availability);
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  /// Makes the configuration that measures these metrics and replaces the previous one; returns the number of
  /// passes.
  size_t configure(std::vector<std::string> names);
  std::vector<uint8_t>& config() { return config_; }
  /// Names of the configured metrics, for CUPTI.
  const std::vector<const char*>& names() const { return names_; }

  /// The values of the configured metrics, in their order, for one range or sample of decoded data.
  std::vector<double> evaluate(const std::vector<uint8_t>& data, size_t index) const;

 private:
  void open();
  void close();

  CUpti_ProfilerType type_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  std::vector<std::string> texts_;
  std::vector<const char*> names_;
  std::vector<uint8_t> config_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

/// The chip of a GPU, such as "GH100", by CUPTI's number of the device.
std::string chip_name(uint32_t device);

}  // namespace hone::trace::inject
