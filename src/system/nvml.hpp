// NVIDIA's management library, libnvidia-ml.so.1, which comes with the driver. It is loaded at run time when
// a sweep uses a GPU, so hone starts without it. Figures are absent if the library lacks a function or does
// not answer a query.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace hone::system {

/// Properties that do not change while a GPU runs.
struct GpuIdentity {
  std::string name;
  std::string uuid;
  std::string bus_id;
  std::string driver;
  std::optional<int64_t> memory_bytes;
  std::optional<double> power_limit_w;
  std::optional<int> max_sm_mhz;
  std::optional<int> max_memory_mhz;
};

Json to_json(const GpuIdentity& identity);

/// One sample of a GPU's state.
struct GpuSample {
  double seconds = 0;  ///< since the first sample of a run
  std::optional<int> sm_mhz;
  std::optional<int> memory_mhz;
  std::optional<double> power_w;
  std::optional<int> temperature_c;
  std::optional<int64_t> memory_used_bytes;  ///< of the whole device
  std::optional<int> utilization;            ///< percentage of the time in which a kernel ran
  std::optional<uint64_t> clock_reasons;     ///< bits of nvmlClocksEventReasons
};

/// A process with a compute context on the GPU.
struct GpuProcess {
  pid_t pid = 0;
  std::optional<int64_t> memory_bytes;
};

/// Used by one thread at a time.
class Nvml {
 public:
  /// Opens the library at `path` and the GPU at this bus id, or the first GPU if it is empty. Environment
  /// error with one sentence if the library, a function that is required, or the GPU is missing.
  Nvml(const std::string& path, const std::string& bus_id);
  /// Opens the GPU with NVML's number `index`, from 0.
  Nvml(const std::string& path, unsigned index);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuIdentity identity() const;
  GpuSample sample() const;
  /// Nothing if the library does not report them.
  std::optional<std::vector<GpuProcess>> processes() const;

  /// The library that the loader finds, or the one that HONE_NVML names.
  static std::string library_path();

 private:
  struct Functions;

  /// Loads the library without opening a GPU.
  explicit Nvml(const std::string& path);
  /// Checks the result of looking up a GPU. Environment error if it was not found.
  void check_found(int result, const std::string& name);

  std::shared_ptr<void> library_;
  std::unique_ptr<Functions> call_;
  void* device_ = nullptr;
};

}  // namespace hone::system
