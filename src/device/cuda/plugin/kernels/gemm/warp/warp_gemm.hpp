// Pointwise convolutions of few channels: every warp makes its own tiles of y. Its filters stay in registers,
// pixels come from global memory as mma.sync takes them, and results go there as they leave it: no shared
// memory and no barrier, so that many warps hide each other's waits. Half and bfloat16, compute
// capability 8.0 and later.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// One way to run a problem.
struct WarpGemmConfig {
  static constexpr int kFilters = 32;  ///< of a tile
  int tile_m = 32;                     ///< output pixels of a tile: 16 or 32

  /// The text of a configuration: "32x32".
  std::string text() const;
  static std::optional<WarpGemmConfig> parse(const std::string& text);
  bool operator==(const WarpGemmConfig&) const = default;
};

/// Why the problem cannot run so on that device; empty when it can.
Refusal warp_gemm_refusal(const ConvProblem& problem, const WarpGemmConfig& config,
                          const DeviceProperties& device);

/// The configurations that are worth trying.
std::vector<WarpGemmConfig> warp_gemm_configs(const ConvProblem& problem, const DeviceProperties& device);

/// Enqueues the convolution; `pdl` and the errors are those of launch_conv. Steps are those of
/// stream_epilogue(), others give cudaErrorInvalidValue. No workspace is used.
cudaError_t launch_warp_gemm(const ConvProblem& problem, const WarpGemmConfig& config, const ConvArgs& args,
                             const LaunchOptions& options);

}  // namespace hone::device::cuda
