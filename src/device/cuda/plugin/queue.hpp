// A stream of a GPU in the form that kernels use and that callers of the library pass.
#pragma once

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/runtime.hpp"
#include "tensor/queue.hpp"

namespace hone::device::cuda {

/// A queue of the GPU that is current when it is made; later, any GPU may be current.
class CudaQueue final : public tensor::Queue {
 public:
  /// Makes a queue with its own stream.
  explicit CudaQueue(const DeviceProperties& device)
      : own_(std::make_unique<const Stream>()), stream_(own_->get()), device_(device) {}
  /// Launches record their times in `stamps`, unless it is null. The stream, the properties and the stamps
  /// must outlive the queue.
  CudaQueue(cudaStream_t stream, const DeviceProperties& device, StampSource* stamps = nullptr)
      : stream_(stream), device_(device), stamps_(stamps) {}
  CudaQueue(const Stream& stream, const DeviceProperties& device, StampSource* stamps = nullptr)
      : CudaQueue(stream.get(), device, stamps) {}

  tensor::Place place() const override;
  void synchronize() const override;
  std::shared_ptr<const tensor::Event> record() const override;
  void wait(const tensor::Event& event) const override;
  bool is_capturing() const override;

  cudaStream_t stream() const { return stream_; }
  const DeviceProperties& device() const { return device_; }
  StampSource* stamps() const { return stamps_; }

 private:
  std::unique_ptr<const Stream> own_;
  cudaStream_t stream_;
  /// The default stream of a caller belongs to the current GPU.
  CUcontext context_ = current_context();
  const DeviceProperties& device_;
  StampSource* stamps_ = nullptr;
};

}  // namespace hone::device::cuda
