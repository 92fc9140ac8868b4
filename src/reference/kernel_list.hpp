// The kernel families; each file of kernels/ holds one and exposes it as a list.
#pragma once

#include <span>

#include "reference/kernel.hpp"

namespace hone::reference {

std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> reduction_kernels();
std::span<const KernelEntry> shape_kernels();
std::span<const KernelEntry> convolution_kernels();
std::span<const KernelEntry> matrix_kernels();
std::span<const KernelEntry> normalization_kernels();
std::span<const KernelEntry> quantization_kernels();
std::span<const KernelEntry> recurrent_kernels();
std::span<const KernelEntry> control_kernels();
std::span<const KernelEntry> detection_kernels();
std::span<const KernelEntry> signal_kernels();
std::span<const KernelEntry> loss_kernels();
std::span<const KernelEntry> fused_kernels();

}  // namespace hone::reference
