// Convolution of few pixels by warpgroups (wgmma and tensor maps, compute capability 9.0 alone) that brings
// each pixel once for each column of taps instead of once for each tap. Half and bfloat16.
//
// A *slab* is what one column of taps sees of an image, 64 channels of it: the rows under a tile of 64
// positions, moved by the column. Rows are as many positions long as a power of two from 8 on, so that each
// tap's matrix of pixels is the slab from another row on. The depth is split over a cluster by channels.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/conv_problem.hpp"

namespace hone::device::cuda {

/// One way to run a problem.
struct SlabConfig {
  int tile_n = 64;  ///< filters of a block: 32, 64 or 128
  int parts = 2;    ///< blocks of a cluster that share a tile's channels: 2, 4 or 8

  /// For instance "64x64_c4": positions and filters of a tile, blocks of a cluster.
  std::string text() const;
  static std::optional<SlabConfig> parse(const std::string& text);
  bool operator==(const SlabConfig&) const = default;
};

/// Why the problem cannot run so on that device; empty when it can.
std::string slab_refusal(const ConvProblem& problem, const SlabConfig& config, const DeviceLimits& device);

/// All configurations that are valid: at most nine.
std::vector<SlabConfig> slab_configs(const ConvProblem& problem, const DeviceLimits& device);

/// Enqueues the convolution; `pdl` and errors as launch_conv. Operands that the driver's maps cannot describe
/// give cudaErrorInvalidValue, a driver without maps cudaErrorNotSupported.
cudaError_t launch_slab(const ConvProblem& problem, const SlabConfig& config, const ConvArgs& args, bool pdl,
                        cudaStream_t stream);

}  // namespace hone::device::cuda
