// Chooses boxes of a detector's outputs on a GPU, with the kernel of kernels/image/row_choice.hpp.
#pragma once

#include <memory>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/row_chooser.hpp"

namespace hone::device::cuda {

/// The GPU outlives it.
std::unique_ptr<engine::RowChooser> make_cuda_row_chooser(Gpu& gpu);

}  // namespace hone::device::cuda
