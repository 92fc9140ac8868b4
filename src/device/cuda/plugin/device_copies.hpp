// Copies of host tensors on one GPU, shared by all who ask for the same ones.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/cuda/plugin/runtime.hpp"
#include "tensor/tensor.hpp"

namespace hone::device::cuda {

/// Kept while anybody holds them. Several threads may ask at the same time.
class DeviceCopies {
 public:
  /// `memory` outlives the copies.
  explicit DeviceCopies(GpuMemory& memory) : memory_(memory) {}

  /// Shared by all who ask for the same bytes; it keeps the host tensor alive.
  std::shared_ptr<const DeviceBytes> of(const tensor::Tensor& host);
  /// Copies bytes that everyone gathers anew: shared by all who ask for equal content, which is kept on the
  /// host to compare with.
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
