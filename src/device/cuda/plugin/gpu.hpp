// One GPU of the process: its properties, and what is kept for it.
#pragma once

#include <mutex>

#include "device/cuda/plugin/device_copies.hpp"
#include "device/cuda/plugin/kernels/common/device_properties.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {

/// Tactics and executors share it; all of its methods may be called by several threads at the same time.
class Gpu {
 public:
  /// A null context stands for a GPU that is not there.
  explicit Gpu(DeviceProperties properties, CUcontext context = nullptr)
      : properties_(std::move(properties)), memory_(context) {}
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const DeviceProperties& properties() const { return properties_; }
  CUcontext context() const { return memory_.context(); }
  GpuMemory& memory() { return memory_; }
  DeviceCopies& copies() { return copies_; }

  /// Overwrites twice the size of the L2 cache, done when it returns: a program's data are out of it. The
  /// buffer is allocated at the first call and kept.
  void evict_l2();

 private:
  DeviceProperties properties_;
  GpuMemory memory_;
  DeviceCopies copies_{memory_};
  std::mutex l2_mutex_;
  DeviceBytes l2_buffer_;
};

}  // namespace hone::device::cuda
