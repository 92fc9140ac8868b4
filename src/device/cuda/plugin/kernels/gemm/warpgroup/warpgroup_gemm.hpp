// Convolution by warpgroup GEMM (wgmma and tensor maps, compute capability 9.0 only): its configurations for
// a problem, and the launch. Half and bfloat16.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// One way to run a problem.
struct WarpgroupConfig {
  int tile_m = 128;  ///< output pixels of a block
  int tile_n = 128;  ///< filters of a block
  int stages = 4;    ///< each of 64 channels of one tap
  int parts = 1;     ///< blocks of a cluster that share a tile's depth: 1, 2, 4 or 8

  /// The configuration as text: "128x64_s4" or "64x32_s4_c8".
  std::string text() const;
  static std::optional<WarpgroupConfig> parse(const std::string& text);
  bool operator==(const WarpgroupConfig&) const = default;
};

/// The reason why the problem cannot run in that configuration on that device; empty if it can.
Refusal warpgroup_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                          const DeviceProperties& device);

/// The valid configurations, best guess first, at most `limit`.
std::vector<WarpgroupConfig> warpgroup_configs(const ConvProblem& problem, const DeviceProperties& device,
                                               size_t limit = 16);

/// Enqueues the convolution; `pdl` and errors are those of launch_conv(). The driver encodes the maps of x
/// and w. Operands that it cannot describe give cudaErrorInvalidValue, as do steps other than bounds before a
/// float result. A driver without tensor maps gives cudaErrorNotSupported.
cudaError_t launch_warpgroup(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                             const LaunchOptions& options);

}  // namespace hone::device::cuda
