// The kernels of DFT and STFT, a part of the signal family.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

void dft(KernelContext& context);
void stft(KernelContext& context);

}  // namespace hone::reference
