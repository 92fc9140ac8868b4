// See device_copies.hpp.
#include "device/cuda/plugin/device_copies.hpp"

#include <cstring>

namespace hone::device::cuda {

struct DeviceCopies::Copy {
  Copy(GpuMemory& memory, tensor::Tensor bytes)
      : host(std::move(bytes)), device(memory, static_cast<int64_t>(host.byte_size())) {
    copy_to_device(device, host.bytes(), host.byte_size());
  }
  tensor::Tensor host;
  DeviceBytes device;
};

std::shared_ptr<const DeviceBytes> DeviceCopies::of(const tensor::Tensor& host) {
  const std::lock_guard lock(mutex_);
  const Address key(host.bytes(), host.byte_size());
  std::shared_ptr<Copy> copy = by_address_[key].lock();
  if (copy == nullptr) {
    std::erase_if(by_address_, [](const auto& entry) { return entry.second.expired(); });
    // The copy keeps the host's bytes alive, so that no other tensor can get the same address meanwhile.
    copy = std::make_shared<Copy>(memory_, host);
    by_address_[key] = copy;
  }
  return {copy, &copy->device};
}

std::shared_ptr<const DeviceBytes> DeviceCopies::of_content(const tensor::Tensor& host) {
  const std::lock_guard lock(mutex_);
  std::erase_if(by_content_, [](const auto& copy) { return copy.expired(); });
  for (const auto& known : by_content_) {
    const std::shared_ptr<Copy> copy = known.lock();
    if (copy != nullptr && copy->host.byte_size() == host.byte_size() &&
        std::memcmp(copy->host.bytes(), host.bytes(), host.byte_size()) == 0)
      return {copy, &copy->device};
  }
  auto copy = std::make_shared<Copy>(memory_, host);
  by_content_.push_back(copy);
  return {copy, &copy->device};
}

}  // namespace hone::device::cuda
