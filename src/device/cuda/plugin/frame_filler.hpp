// Fills the input of a network from decoded frames on a GPU, with the kernel of
// kernels/image/frame_input.hpp.
#pragma once

#include <memory>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/frame_filler.hpp"

namespace hone::device::cuda {

/// Returns null for inputs with element types that the kernels lack. The GPU must outlive it.
std::unique_ptr<engine::FrameFiller> make_cuda_frame_filler(Gpu& gpu, const engine::FrameTarget& target);

}  // namespace hone::device::cuda
