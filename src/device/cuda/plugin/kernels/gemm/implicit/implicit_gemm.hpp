// Convolution by implicit GEMM (mma.sync, compute capability 8.0 and later; Element::kFloat by fused
// multiply-adds in IEEE float): which configurations a problem has, and the launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// Where the parts of a split depth are added up, always in the same order.
enum class Reduction : uint8_t {
  kCluster,   ///< in the shared memory of a thread block cluster: 2, 4 or 8 parts, compute capability 9.0
  kWorkspace  ///< in global memory, by the block that comes last
};

/// One way to run a problem.
struct ConvConfig {
  int tile_m = 64;  ///< output pixels of a block
  int tile_n = 64;  ///< filters of a block
  int tile_k = 64;  ///< depth of a stage, in elements
  int stages = 4;
  int split_k = 1;
  Reduction reduction = Reduction::kCluster;

  /// The text of a configuration: "64x32x64_s4" or "64x32x64_s4_c8" (cluster) or "64x32x64_s4_w16"
  /// (workspace).
  std::string text() const;
  static std::optional<ConvConfig> parse(const std::string& text);
  bool operator==(const ConvConfig& other) const { return text() == other.text(); }
};

/// Why the problem cannot run so on that device; empty when it can.
Refusal conv_refusal(const ConvProblem& problem, const ConvConfig& config, const DeviceProperties& device);

/// The configurations that are valid, best guess first, at most `limit`.
std::vector<ConvConfig> conv_configs(const ConvProblem& problem, const DeviceProperties& device,
                                     size_t limit = 24);

/// The configurations that a search should time: the best guesses and, in float, the best of each large tile
/// as well. Large tiles compute a third faster than small ones, which the guess does not know.
std::vector<ConvConfig> conv_candidates(const ConvProblem& problem, const DeviceProperties& device);

/// Bytes for the sums of parts and for a counter of each tile; 0 unless the depth is split with
/// Reduction::kWorkspace.
int64_t conv_workspace_bytes(const ConvProblem& problem, const ConvConfig& config);
int64_t conv_counter_bytes(const ConvProblem& problem, const ConvConfig& config);

/// Enqueues the convolution. With `pdl` (programmatic dependent launch, compute capability 9.0) it may start
/// while the kernel before it on the stream still runs: it reads `w` and `bias` at once, and touches
/// everything else after that kernel has finished. cudaErrorInvalidValue for a configuration that
/// conv_refusal refuses.
cudaError_t launch_conv(const ConvProblem& problem, const ConvConfig& config, const ConvArgs& args,
                        const LaunchOptions& options);

}  // namespace hone::device::cuda
