// A library with NVML's functions that says what the environment variable FAKE_NVML tells it, read anew at
// every call: "sm=1980 power=250000 processes=12:1000000,13 clock_error=3". A figure that is not named has
// the value of a healthy GPU; NAME_error is the result of the function of that figure. Built with
// FAKE_NVML_OLD it lacks what the oldest drivers lack.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string setting(const std::string& name) {
  const char* all = std::getenv("FAKE_NVML");
  std::istringstream words(all == nullptr ? "" : all);
  for (std::string word; words >> word;) {
    if (word.rfind(name + "=", 0) == 0) return word.substr(name.size() + 1);
  }
  return {};
}

unsigned long long number(const std::string& name, unsigned long long otherwise) {
  const std::string text = setting(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 0);
}

int status(const std::string& name) { return static_cast<int>(number(name + "_error", 0)); }

[[maybe_unused]] int write_text(const char* text, char* to, unsigned size) {
  std::strncpy(to, text, size);
  return 0;
}

int write_number(const std::string& name, unsigned long long otherwise, unsigned* to) {
  *to = static_cast<unsigned>(number(name, otherwise));
  return status(name);
}

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

int device = 0;

}  // namespace

extern "C" {

int nvmlInit_v2() { return status("init"); }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = &device;
  return index == 0 ? status("handle") : 2;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
  *handle = &device;
  return std::strcmp(bus_id, "0000:1b:00.0") == 0 ? status("handle") : 6;
}

#ifndef FAKE_NVML_OLD
const char* nvmlErrorString(int result) { return result == 6 ? "Not Found" : "Some Reason"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return write_text("580.1", text, size); }
int nvmlDeviceGetName(void*, char* text, unsigned size) { return write_text("Fake GPU", text, size); }
int nvmlDeviceGetUUID(void*, char* text, unsigned size) {
  const std::string uuid = setting("uuid");
  return write_text(uuid.empty() ? "GPU-1" : uuid.c_str(), text, size);
}
int nvmlDeviceGetPciInfo_v3(void*, PciInfo* info) {
  return write_text("00000000:1B:00.0", info->bus_id, sizeof info->bus_id);
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {141'000'000'000, 0, number("used", 2'000'000'000)};
  return status("used");
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  return write_number("limit", 700'000, milliwatts);
}
int nvmlDeviceGetMaxClockInfo(void*, int kind, unsigned* clock) {
  return write_number(kind == 1 ? "max_sm" : "max_memory", kind == 1 ? 1980 : 3201, clock);
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return write_number("power", 250'000, milliwatts);
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  return write_number("temperature", 45, celsius);
}
int nvmlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  *utilization = {static_cast<unsigned>(number("utilization", 97)), 3};
  return status("utilization");
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  *reasons = number("reasons", 0);
  return status("reasons");
}
/// "12:1000,13": process 12 with 1000 bytes, 13 with memory that is not told.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* list) {
  std::vector<ProcessInfo> processes;
  std::istringstream items(setting("processes"));
  for (std::string item; std::getline(items, item, ',');) {
    const size_t colon = item.find(':');
    const unsigned long long bytes =
        colon == std::string::npos ? ~0ULL : std::strtoull(item.c_str() + colon + 1, nullptr, 0);
    processes.push_back({static_cast<unsigned>(std::strtoul(item.c_str(), nullptr, 0)), bytes, 0, 0});
  }
  const bool fits = processes.size() <= *count;
  *count = static_cast<unsigned>(processes.size());
  if (!fits) return 7;
  std::copy(processes.begin(), processes.end(), static_cast<ProcessInfo*>(list));
  return status("processes");
}
#else
/// The name before 12.2.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = number("reasons", 0);
  return 0;
}
#endif
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* clock) {
  return write_number(kind == 1 ? "sm" : "memory", kind == 1 ? 1980 : 3201, clock);
}

}  // extern "C"
