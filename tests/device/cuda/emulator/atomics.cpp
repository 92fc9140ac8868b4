// Atomic functions of emulated kernels, whose threads take turns.
#include "device/cuda/emulator/device_functions.hpp"

namespace hone::device::cuda {

unsigned atomicInc(unsigned* at, unsigned most) {
  const unsigned before = *at;
  *at = before >= most ? 0 : before + 1;
  return before;
}

}  // namespace hone::device::cuda
