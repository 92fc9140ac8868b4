// NVIDIA's management library, libnvidia-ml.so.1, which comes with the driver: loaded at run time when a
// sweep uses a GPU, so that nothing needs it to start. Functions that the library lacks and questions that it
// does not answer leave their figures absent.
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

/// One look at a GPU.
struct GpuSample {
  double seconds = 0;  ///< since the first sample of a run
  std::optional<int> sm_mhz;
  std::optional<int> memory_mhz;
  std::optional<double> power_w;
  std::optional<int> temperature_c;
  std::optional<int64_t> memory_used_bytes;  ///< of the whole device
  std::optional<int> utilization;            ///< percent of the time in which a kernel ran
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
  /// Opens the library at `path` and the GPU that is plugged in at `bus_id`, the first one when that is
  /// empty. Environment error, in one sentence, when the library, what it cannot do without, or the GPU is
  /// missing.
  Nvml(const std::string& path, const std::string& bus_id);
  /// Opens the GPU that NVML counts as `index`, from 0.
  Nvml(const std::string& path, unsigned index);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuIdentity identity() const;
  GpuSample sample() const;
  /// Nothing when the library does not report them.
  std::optional<std::vector<GpuProcess>> processes() const;

  /// The library that the loader finds, or the one that HONE_NVML names.
  static std::string library_path();

 private:
  struct Functions;

  /// Loads the library, without a GPU yet.
  explicit Nvml(const std::string& path);
  /// Checks the result of looking up a GPU. Environment error when it was not found.
  void check_found(int result, const std::string& name);

  std::shared_ptr<void> library_;
  std::unique_ptr<Functions> call_;
  void* device_ = nullptr;
};

}  // namespace hone::system
