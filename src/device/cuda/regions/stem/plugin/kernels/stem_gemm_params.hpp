// The parameter of the kernels of stems. Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_params.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda {

struct StemParams {
  ResidentParams gemm;
  int image_channels;
  int tiles_m;
  int staged_at;  ///< bytes from the start of shared memory: every warp's part of a tile of y
};

/// The convolution with windows as wide as the rows of weights are.
ConvProblem window_problem(const StemLayout& layout);

}  // namespace hone::device::cuda
