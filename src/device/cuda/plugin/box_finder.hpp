// Finds boxes of a detector's outputs on a GPU, with the kernels of kernels/image/box_search.hpp.
#pragma once

#include <memory>
#include <span>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/box_finder.hpp"

namespace hone::device::cuda {

/// Returns null for outputs with element types that the kernels lack. The GPU must outlive it.
std::unique_ptr<engine::BoxFinder> make_cuda_box_finder(Gpu& gpu, std::span<const engine::BoxHead> heads,
                                                        std::span<const tensor::DType> types);

}  // namespace hone::device::cuda
