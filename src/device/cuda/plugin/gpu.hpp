// One GPU of the process: its properties, and the data kept for it.
#pragma once

#include <mutex>

#include "device/cuda/plugin/device_copies.hpp"
#include "device/cuda/plugin/kernels/common/device_properties.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {

/// Shared by tactics and executors; all methods may be called from several threads at the same time.
class Gpu {
 public:
  /// A null context represents a missing GPU.
  explicit Gpu(DeviceProperties properties, CUcontext context = nullptr)
      : properties_(std::move(properties)), memory_(context) {}
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const DeviceProperties& properties() const { return properties_; }
  CUcontext context() const { return memory_.context(); }
  GpuMemory& memory() { return memory_; }
  DeviceCopies& copies() { return copies_; }

  /// Overwrites twice the size of the L2 cache, so that it contains no data of a program; finished when it
  /// returns. The buffer is allocated by the first call and kept.
  void evict_l2();

 private:
  DeviceProperties properties_;
  GpuMemory memory_;
  DeviceCopies copies_{memory_};
  std::mutex l2_mutex_;
  DeviceBytes l2_buffer_;
};

}  // namespace hone::device::cuda
