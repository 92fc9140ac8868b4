// Convolution by implicit GEMM: its configurations for a problem, and the launch. It uses mma.sync (compute
// capability 8.0 and later), or fused multiply-adds in IEEE float for Element::kFloat.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// The place where the parts of a split depth are added up, always in the same order.
enum class Reduction : uint8_t {
  kCluster,   ///< in the shared memory of a thread block cluster: 2, 4 or 8 parts, compute capability 9.0
  kWorkspace  ///< in global memory, by the last block to finish
};

/// One way to run a problem.
struct ConvConfig {
  int tile_m = 64;  ///< output pixels of a block
  int tile_n = 64;  ///< filters of a block
  int tile_k = 64;  ///< depth of a stage, in elements
  int stages = 4;
  int split_k = 1;
  Reduction reduction = Reduction::kCluster;

  /// The configuration as text: "64x32x64_s4", "64x32x64_s4_c8"
  /// (cluster) or "64x32x64_s4_w16" (workspace).
  std::string text() const;
  static std::optional<ConvConfig> parse(const std::string& text);
  bool operator==(const ConvConfig& other) const { return text() == other.text(); }
};

/// The reason why the problem cannot run in that configuration on that device; empty if it can.
Refusal conv_refusal(const ConvProblem& problem, const ConvConfig& config, const DeviceProperties& device);

/// The valid configurations, best guess first, at most `limit`.
std::vector<ConvConfig> conv_configs(const ConvProblem& problem, const DeviceProperties& device,
                                     size_t limit = 24);

/// The configurations that a search should time: the best guesses and, in float, also the best with each
/// large tile. Large tiles compute a third faster than small ones, which the guess does not model.
std::vector<ConvConfig> conv_candidates(const ConvProblem& problem, const DeviceProperties& device);

/// Bytes for the parts' sums, and for one counter for each tile; 0 unless the depth is split with
/// Reduction::kWorkspace.
int64_t conv_workspace_bytes(const ConvProblem& problem, const ConvConfig& config);
int64_t conv_counter_bytes(const ConvProblem& problem, const ConvConfig& config);

/// Enqueues the convolution. With `pdl` (programmatic dependent launch, compute capability 9.0) it may start
/// while the previous kernel of the stream still runs. It then reads `w` and `bias` at once, and everything
/// else only after that kernel has finished. Returns cudaErrorInvalidValue for a configuration that
/// conv_refusal() refuses.
cudaError_t launch_conv(const ConvProblem& problem, const ConvConfig& config, const ConvArgs& args,
                        const LaunchOptions& options);

}  // namespace hone::device::cuda
