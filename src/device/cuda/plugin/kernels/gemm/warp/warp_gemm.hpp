// Pointwise convolutions with few channels, in which every warp computes its own tiles of y. A warp's filters
// stay in registers; pixels are loaded from global memory in the order of mma.sync, and results are stored
// directly. Without shared memory and barriers, many warps hide each other's latency. Half and bfloat16,
// compute capability 8.0 and later.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// One way to run a problem.
struct WarpGemmConfig {
  static constexpr int kFilters = 32;  ///< filters of a tile
  int tile_m = 32;                     ///< output pixels of a tile: 16 or 32

  /// The configuration as text: "32x32".
  std::string text() const;
  static std::optional<WarpGemmConfig> parse(const std::string& text);
  bool operator==(const WarpGemmConfig&) const = default;
};

/// The reason why the problem cannot run in that configuration on that device; empty if it can.
Refusal warp_gemm_refusal(const ConvProblem& problem, const WarpGemmConfig& config,
                          const DeviceProperties& device);

/// The configurations that are worth trying.
std::vector<WarpGemmConfig> warp_gemm_configs(const ConvProblem& problem, const DeviceProperties& device);

/// Enqueues the convolution; `pdl` and the errors are those of launch_conv(). Steps that stream_epilogue()
/// does not support give cudaErrorInvalidValue. No workspace is used.
cudaError_t launch_warp_gemm(const ConvProblem& problem, const WarpGemmConfig& config, const ConvArgs& args,
                             const LaunchOptions& options);

}  // namespace hone::device::cuda
