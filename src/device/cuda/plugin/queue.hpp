// A stream of a GPU as kernels see it.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/runtime.hpp"
#include "tensor/queue.hpp"

namespace hone::device::cuda {

class CudaQueue final : public tensor::Queue {
 public:
  /// Launches leave stamps where `stamps` says; null: nowhere. The stream, the properties and the stamps
  /// outlive it.
  CudaQueue(const Stream& stream, const DeviceProperties& device, StampSource* stamps = nullptr)
      : stream_(stream), device_(device), stamps_(stamps) {}

  void synchronize() const override { stream_.synchronize(); }
  cudaStream_t stream() const { return stream_.get(); }
  const DeviceProperties& device() const { return device_; }
  StampSource* stamps() const { return stamps_; }

 private:
  const Stream& stream_;
  const DeviceProperties& device_;
  StampSource* stamps_;
};

}  // namespace hone::device::cuda
