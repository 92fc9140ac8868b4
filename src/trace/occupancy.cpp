// See occupancy.hpp.
#include "trace/occupancy.hpp"

#include <algorithm>
#include <limits>

namespace hone::trace {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kRegisterUnit = 256;  // registers, to a warp
constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

int64_t product(const std::array<int32_t, 3>& extent) {
  int64_t result = 1;
  for (const int32_t side : extent) {
    if (side <= 0 || __builtin_mul_overflow(result, static_cast<int64_t>(side), &result)) return 0;
  }
  return result;
}

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int64_t block_slots(const DeviceProperties& device) {
  if (device.blocks_per_multiprocessor > 0) return device.blocks_per_multiprocessor;
  switch (device.compute_major * 10 + device.compute_minor) {
    case 75:
    case 86:
    case 87: return 16;
    case 89:
    case 101:
    case 110:
    case 120:
    case 121: return 24;
    default: return 32;
  }
}

int64_t limit_of_registers(int64_t registers, int64_t warps, const DeviceProperties& device) {
  if (registers <= 0 || device.registers_per_multiprocessor <= 0) return kUnlimited;
  const int64_t parts = device.compute_major == 6 && device.compute_minor == 0 ? 2 : 4;
  const int64_t of_a_warp = round_up(registers * kWarp, kRegisterUnit);
  const int64_t warps_of_a_part = device.registers_per_multiprocessor / parts / of_a_warp;
  return warps_of_a_part * parts / warps;
}

int64_t limit_of_shared_memory(const KernelLaunch& launch, const DeviceProperties& device) {
  if (device.shared_bytes_per_multiprocessor <= 0) return kUnlimited;
  const bool recent = device.compute_major >= 8;
  const int64_t room = device.shared_bytes_per_multiprocessor;
  const int64_t wanted = std::clamp<int64_t>(launch.static_shared_bytes, 0, room) +
                         std::clamp<int64_t>(launch.dynamic_shared_bytes, 0, room);
  const int64_t of_a_block = round_up(wanted + (recent ? 1024 : 0), recent ? 128 : 256);
  return of_a_block == 0 ? kUnlimited : room / of_a_block;
}

}  // namespace

int resident_blocks(const KernelLaunch& launch, const DeviceProperties& device) {
  const int64_t threads = product(launch.block);
  if (threads == 0 || device.threads_per_multiprocessor <= 0) return -1;
  const int64_t warps = round_up(threads, kWarp) / kWarp;
  const int64_t limit = std::min({device.threads_per_multiprocessor / kWarp / warps, block_slots(device),
                                  limit_of_registers(launch.registers_per_thread, warps, device),
                                  limit_of_shared_memory(launch, device)});
  return static_cast<int>(limit);
}

double blocks_per_multiprocessor(const KernelLaunch& launch, const DeviceProperties& device) {
  const int64_t blocks = product(launch.grid);
  if (blocks == 0 || device.multiprocessors <= 0) return -1;
  return static_cast<double>(blocks) / device.multiprocessors;
}

double warps_per_multiprocessor(const KernelLaunch& launch, const DeviceProperties& device) {
  const double blocks = blocks_per_multiprocessor(launch, device);
  const int64_t threads = product(launch.block);
  if (blocks < 0 || threads == 0) return -1;
  return blocks * static_cast<double>(threads) / static_cast<double>(kWarp);
}

double estimated_occupancy(const KernelLaunch& launch, const DeviceProperties& device) {
  if (launch.recorded_occupancy >= 0) return launch.recorded_occupancy;
  const int resident = resident_blocks(launch, device);
  const double blocks = blocks_per_multiprocessor(launch, device);
  if (resident < 0 || blocks < 0) return -1;
  return 100 * std::min<double>(resident, blocks) * static_cast<double>(product(launch.block)) /
         device.threads_per_multiprocessor;
}

}  // namespace hone::trace
