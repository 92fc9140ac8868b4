// Runs kernels of compute capability 9.0a on the CPU, a thread of a block after the other, with what runs
// beside them as a schedule says: copies, products of warpgroups, stores by the copy unit. Launchers find it
// where they expect CUDA's runtime; device memory is ordinary memory. It does not model: registers that warps
// give each other, warps of a warpgroup that are a product apart, stores of plain C++ that lack a fence,
// kernels that overlap, time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/cuda/plugin/kernels/common/device_properties.hpp"

namespace hone::device::cuda::emulator {

/// When something asynchronous takes effect.
enum class Pace {
  kAtOnce,  ///< as soon as it is started: finds what is overwritten too early
  kLate,    ///< when nothing else can go on: finds what is not waited for
  kAnyTime  ///< at random
};

struct Schedule {
  Pace copies = Pace::kLate;    ///< to and from shared memory, by the copy unit or a thread
  Pace products = Pace::kLate;  ///< of warpgroups: when their matrices are read, and when sums change
  /// Seeds the order of threads and kAnyTime; 0 takes threads in their order. Otherwise one block of a
  /// cluster is slow, too.
  uint64_t seed = 0;
};

/// For the launches that follow.
void set_schedule(const Schedule& schedule);

/// Sets the multiprocessors of the device that launchers see; 132 at first.
void set_multiprocessors(int count);
/// That device.
const DeviceProperties& properties();

/// Memory that the kernel ahead may still read or write: the launches that follow must not touch it by copies
/// before their threads have waited for that kernel. Forgets what was said before; no bytes: nothing.
void busy_ahead(const void* memory, size_t bytes);
void also_busy_ahead(const void* memory, size_t bytes);

/// Faults of the launches since the last call, a line each; empty when there are none.
std::string take_faults();

}  // namespace hone::device::cuda::emulator
