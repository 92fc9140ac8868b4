// The address of a kernel in the form that launch functions take.
#pragma once

namespace hone::device::cuda {

template <class... Parameters>
const void* kernel_address(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace hone::device::cuda
