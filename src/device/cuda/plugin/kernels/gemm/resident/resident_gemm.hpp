// Convolution for few pixels: all operands of a block, its weights and all pixels under its windows, lie in
// shared memory at once. The weights are copied while the previous kernel still runs. Three steps
// remain: a copy of the pixels, the product (warps split it along the depth), and the sum. Uses mma.sync;
// clusters need compute capability 9.0. Operands are those of conv_problem.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// One way to run a problem.
struct ResidentConfig {
  int tile_m = 32;  ///< output pixels of a block
  int tile_n = 32;  ///< filters of a block
  int slices = 8;   ///< groups of warps among which a block divides its depth
  int parts = 1;    ///< blocks of a cluster, which divide the input channels: 1, 2, 4 or 8

  /// The configuration as text: "32x32_k8" or "32x32_k8_c4" (a cluster of 4).
  std::string text() const;
  static std::optional<ResidentConfig> parse(const std::string& text);
  bool operator==(const ResidentConfig&) const = default;
};

/// The reason why the problem cannot run in that configuration on that device; empty if it can.
Refusal resident_refusal(const ConvProblem& problem, const ResidentConfig& config,
                         const DeviceProperties& device);

/// The valid configurations, best guess first, at most `limit`.
std::vector<ResidentConfig> resident_configs(const ConvProblem& problem, const DeviceProperties& device,
                                             size_t limit = 16);

/// Enqueues the convolution; `pdl` and the errors are those of launch_conv. No workspace is used.
cudaError_t launch_resident(const ConvProblem& problem, const ResidentConfig& config, const ConvArgs& args,
                            const LaunchOptions& options);

}  // namespace hone::device::cuda
