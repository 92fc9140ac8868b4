// Convolutions of 3 x 3 whose filters stay in shared memory. A warpgroup has 64 filters of 64 channels. If
// there are more channels than the warpgroups of a block can take, the blocks of a cluster add up their sums.
// The columns of all products are pixels, up to 120 of them, so that few blocks read the same filters. Pixels
// are copied once for all nine taps. Half and bfloat16.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// The most tiles that a block computes in turn: it has registers for all their sums.
constexpr int most_stationary_tiles(int columns) { return columns > 56 ? 1 : 3; }

/// The partition of a convolution into tiles. A tile consists of some rows of an image. It has one column for
/// each pixel, and one more between two rows, which is no pixel.
struct StationaryPlan {
  static constexpr int kBlockChannels = 128;
  static constexpr int kFilters = 64;                                 ///< filters of a cluster
  static constexpr int64_t kFilterBytes = int64_t{2} * 9 * 64 * 128;  ///< filters of a block
  static constexpr int64_t kBarrierBytes = 1024;

  int columns = 0;     ///< columns of a product
  int rows = 0;        ///< rows of a tile
  int strips = 0;      ///< tiles in an image
  int parts = 0;       ///< blocks in a cluster
  int most_tiles = 0;  ///< tiles for which a block has room
  int slab_bytes = 0;  ///< bytes of a tile's pixels for 64 channels

  /// The plan of a problem that warpgroup_stationary_refusal() accepts.
  static StationaryPlan of(const ConvProblem& problem, const DeviceProperties& device);
  /// Shared memory of a block that takes `tiles` tiles.
  int64_t shared_bytes(int64_t tiles) const { return kFilterBytes + tiles * 2 * slab_bytes + kBarrierBytes; }
};

/// The index of a weight in [filters / 64][channels / 64][9 taps][64 rows][64 channels], in which each 64 x
/// 64 matrix has the layout of shared memory with the 128-byte swizzle.
size_t stationary_place(int64_t channels, int64_t filter, int64_t tap, int64_t channel);

/// The reason why the problem cannot run on that device; empty if it can.
Refusal warpgroup_stationary_refusal(const ConvProblem& problem, const DeviceProperties& device);

/// Enqueues the convolution. args.w has the layout of stationary_place(); the kernel reads it and args.bias
/// before the previous kernel has ended. Steps are at most those of StreamKind::kBounds and kAdd; others give
/// cudaErrorInvalidValue. With `pdl` the kernel starts early.
cudaError_t launch_warpgroup_stationary(const ConvProblem& problem, const ConvArgs& args,
                                        const LaunchOptions& options);

}  // namespace hone::device::cuda
