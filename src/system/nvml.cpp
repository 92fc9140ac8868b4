// See nvml.hpp. Types and values are those of NVML's public header (API version 12 and later); only those
// that are used are declared.
#include "system/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "base/error.hpp"

namespace hone::system {
namespace {

using Device = void*;
using Result = int;

constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kCoreSensor = 0;
/// NVML's value for the memory of a process that it may not see.
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr double kMilli = 1e-3;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

/// nvmlProcessInfo_v2_t, which nvmlDeviceGetComputeRunningProcesses_v2 and _v3 fill.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  std::array<char, 32> bus_id;
};

using TextFunction = Result (*)(Device, char*, unsigned);
using NumberFunction = Result (*)(Device, unsigned*);
using ClockFunction = Result (*)(Device, int, unsigned*);

template <class F>
F find(void* library, const char* name, const char* older = nullptr) {
  void* symbol = ::dlsym(library, name);
  if (symbol == nullptr && older != nullptr) symbol = ::dlsym(library, older);
  return reinterpret_cast<F>(symbol);
}

std::string text_of(TextFunction function, Device device) {
  std::array<char, 96> text{};
  if (function == nullptr || function(device, text.data(), static_cast<unsigned>(text.size())) != kSuccess)
    return {};
  text.back() = '\0';
  return text.data();
}

std::optional<unsigned> number_of(NumberFunction function, Device device) {
  unsigned value = 0;
  if (function == nullptr || function(device, &value) != kSuccess) return std::nullopt;
  return value;
}

std::optional<int> clock_of(ClockFunction function, Device device, int clock) {
  unsigned value = 0;
  if (function == nullptr || function(device, clock, &value) != kSuccess) return std::nullopt;
  return static_cast<int>(value);
}

std::optional<double> watts_of(NumberFunction function, Device device) {
  const auto milliwatts = number_of(function, device);
  return milliwatts ? std::optional(kMilli * *milliwatts) : std::nullopt;
}

}  // namespace

struct Nvml::Functions {
  explicit Functions(void* library)
      : init(find<Result (*)()>(library, "nvmlInit_v2")),
        shutdown(find<Result (*)()>(library, "nvmlShutdown")),
        error_text(find<const char* (*)(Result)>(library, "nvmlErrorString")),
        by_index(find<Result (*)(unsigned, Device*)>(library, "nvmlDeviceGetHandleByIndex_v2")),
        by_bus_id(find<Result (*)(const char*, Device*)>(library, "nvmlDeviceGetHandleByPciBusId_v2")),
        driver(find<Result (*)(char*, unsigned)>(library, "nvmlSystemGetDriverVersion")),
        name(find<TextFunction>(library, "nvmlDeviceGetName")),
        uuid(find<TextFunction>(library, "nvmlDeviceGetUUID")),
        pci(find<Result (*)(Device, PciInfo*)>(library, "nvmlDeviceGetPciInfo_v3")),
        memory(find<Result (*)(Device, Memory*)>(library, "nvmlDeviceGetMemoryInfo")),
        power_limit(find<NumberFunction>(library, "nvmlDeviceGetEnforcedPowerLimit")),
        max_clock(find<ClockFunction>(library, "nvmlDeviceGetMaxClockInfo")),
        clock(find<ClockFunction>(library, "nvmlDeviceGetClockInfo")),
        power(find<NumberFunction>(library, "nvmlDeviceGetPowerUsage")),
        temperature(find<ClockFunction>(library, "nvmlDeviceGetTemperature")),
        utilization(find<Result (*)(Device, Utilization*)>(library, "nvmlDeviceGetUtilizationRates")),
        clock_reasons(find<Result (*)(Device, unsigned long long*)>(
            library, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")),
        processes(find<Result (*)(Device, unsigned*, ProcessInfo*)>(
            library, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")) {}

  std::string reason(Result result) const {
    return error_text != nullptr ? error_text(result) : fmt::format("error {}", result);
  }

  Result (*init)();
  Result (*shutdown)();
  const char* (*error_text)(Result);
  Result (*by_index)(unsigned, Device*);
  Result (*by_bus_id)(const char*, Device*);
  Result (*driver)(char*, unsigned);
  TextFunction name;
  TextFunction uuid;
  Result (*pci)(Device, PciInfo*);
  Result (*memory)(Device, Memory*);
  NumberFunction power_limit;
  ClockFunction max_clock;
  ClockFunction clock;
  NumberFunction power;
  ClockFunction temperature;
  Result (*utilization)(Device, Utilization*);
  Result (*clock_reasons)(Device, unsigned long long*);
  Result (*processes)(Device, unsigned*, ProcessInfo*);
};

Json to_json(const GpuIdentity& identity) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"name", identity.name},
          {"uuid", identity.uuid},
          {"bus_id", identity.bus_id},
          {"driver", identity.driver},
          {"memory_mb",
           identity.memory_bytes ? Json(static_cast<double>(*identity.memory_bytes) / 1e6) : Json(nullptr)},
          {"power_limit_w", or_null(identity.power_limit_w)},
          {"max_sm_mhz", or_null(identity.max_sm_mhz)},
          {"max_memory_mhz", or_null(identity.max_memory_mhz)}};
}

std::string Nvml::library_path() {
  const char* chosen = std::getenv("HONE_NVML");
  return chosen != nullptr ? chosen : "libnvidia-ml.so.1";
}

Nvml::Nvml(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail_environment("NVML cannot be loaded: {}", ::dlerror());
  library_ = std::shared_ptr<void>(handle, [](void* opened) { (void)::dlclose(opened); });
  call_ = std::make_unique<Functions>(handle);
  if (call_->init == nullptr || call_->shutdown == nullptr || call_->by_index == nullptr)
    fail_environment("{} is no NVML that hone knows: functions are missing", path);
  if (const Result result = call_->init(); result != kSuccess)
    fail_environment("NVML does not start: {}", call_->reason(result));
}

void Nvml::check_found(Result result, const std::string& name) {
  // The destructor runs even if this throws, because the delegated constructor has finished.
  if (result != kSuccess) fail_environment("NVML does not find the GPU {}: {}", name, call_->reason(result));
}

Nvml::Nvml(const std::string& path, unsigned index) : Nvml(path) {
  check_found(call_->by_index(index, &device_), std::to_string(index));
}

Nvml::Nvml(const std::string& path, const std::string& bus_id) : Nvml(path) {
  if (bus_id.empty()) {
    check_found(call_->by_index(0, &device_), "0");
  } else if (call_->by_bus_id == nullptr) {
    fail_environment("{} is no NVML that hone knows: functions are missing", path);
  } else {
    check_found(call_->by_bus_id(bus_id.c_str(), &device_), bus_id);
  }
}

Nvml::~Nvml() { (void)call_->shutdown(); }

GpuIdentity Nvml::identity() const {
  GpuIdentity identity;
  identity.name = text_of(call_->name, device_);
  identity.uuid = text_of(call_->uuid, device_);
  std::array<char, 96> driver{};
  if (call_->driver != nullptr && call_->driver(driver.data(), driver.size()) == kSuccess)
    identity.driver = driver.data();
  PciInfo pci{};
  if (call_->pci != nullptr && call_->pci(device_, &pci) == kSuccess) identity.bus_id = pci.bus_id.data();
  Memory memory{};
  if (call_->memory != nullptr && call_->memory(device_, &memory) == kSuccess)
    identity.memory_bytes = static_cast<int64_t>(memory.total);
  identity.power_limit_w = watts_of(call_->power_limit, device_);
  identity.max_sm_mhz = clock_of(call_->max_clock, device_, kSmClock);
  identity.max_memory_mhz = clock_of(call_->max_clock, device_, kMemoryClock);
  return identity;
}

GpuSample Nvml::sample() const {
  GpuSample sample;
  sample.sm_mhz = clock_of(call_->clock, device_, kSmClock);
  sample.memory_mhz = clock_of(call_->clock, device_, kMemoryClock);
  sample.power_w = watts_of(call_->power, device_);
  sample.temperature_c = clock_of(call_->temperature, device_, kCoreSensor);
  Memory memory{};
  if (call_->memory != nullptr && call_->memory(device_, &memory) == kSuccess)
    sample.memory_used_bytes = static_cast<int64_t>(memory.used);
  Utilization utilization{};
  if (call_->utilization != nullptr && call_->utilization(device_, &utilization) == kSuccess)
    sample.utilization = static_cast<int>(utilization.gpu);
  unsigned long long reasons = 0;
  if (call_->clock_reasons != nullptr && call_->clock_reasons(device_, &reasons) == kSuccess)
    sample.clock_reasons = reasons;
  return sample;
}

std::optional<std::vector<GpuProcess>> Nvml::processes() const {
  if (call_->processes == nullptr) return std::nullopt;
  // Further processes may start between the query of their number and the query of the list.
  constexpr unsigned kSpare = 8;
  constexpr int kTries = 4;
  std::vector<ProcessInfo> listed(kSpare);
  for (int i = 0; i < kTries; ++i) {
    auto count = static_cast<unsigned>(listed.size());
    const Result result = call_->processes(device_, &count, listed.data());
    if (result == kInsufficientSize) {
      listed.resize(size_t{count} + kSpare);
      continue;
    }
    if (result != kSuccess) return std::nullopt;
    std::vector<GpuProcess> processes;
    for (unsigned k = 0; k < count && k < listed.size(); ++k) {
      GpuProcess& process = processes.emplace_back();
      process.pid = static_cast<pid_t>(listed[k].pid);
      if (listed[k].used_memory != kNotAvailable)
        process.memory_bytes = static_cast<int64_t>(listed[k].used_memory);
    }
    return processes;
  }
  return std::nullopt;
}

}  // namespace hone::system
