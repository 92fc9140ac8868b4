// Copies of host tensors on one GPU; requests for the same tensor share one copy.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/cuda/plugin/runtime.hpp"
#include "tensor/tensor.hpp"

namespace hone::device::cuda {

/// A copy exists as long as it is held. Several threads may request copies at the same time.
class DeviceCopies {
 public:
  /// `memory` must outlive the copies.
  explicit DeviceCopies(GpuMemory& memory) : memory_(memory) {}

  /// Requests for the same bytes share one copy, which keeps the host tensor alive.
  std::shared_ptr<const DeviceBytes> of(const tensor::Tensor& host);
  /// Copies bytes that each caller collects again: requests with equal content share one copy. The content is
  /// kept on the host for comparison.
  std::shared_ptr<const DeviceBytes> of_content(const tensor::Tensor& host);

 private:
  struct Copy;
  using Address = std::pair<const std::byte*, size_t>;

  GpuMemory& memory_;
  std::mutex mutex_;
  std::map<Address, std::weak_ptr<Copy>> by_address_;
  std::vector<std::weak_ptr<Copy>> by_content_;
};

}  // namespace hone::device::cuda
