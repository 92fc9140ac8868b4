// Convolutions of 3 x 3 whose filters stay in shared memory: a warpgroup has 64 filters of 64 channels, and
// where there are more channels than a block has warpgroups for, the blocks of a cluster add their sums up.
// Pixels are the columns of all products, up to 120 of them, so that few blocks read the same filters; they
// come once for all nine taps. Half and bfloat16.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// Tiles that a block takes one after the other at most: it has registers for all their sums.
constexpr int most_stationary_tiles(int columns) { return columns > 56 ? 1 : 3; }

/// How a convolution is cut up. A tile is some rows of an image, one column for each pixel and one between
/// two rows, which is no pixel.
struct StationaryPlan {
  static constexpr int kBlockChannels = 128;
  static constexpr int kFilters = 64;                                 ///< of a cluster
  static constexpr int64_t kFilterBytes = int64_t{2} * 9 * 64 * 128;  ///< of a block
  static constexpr int64_t kBarrierBytes = 1024;

  int columns = 0;     ///< of a product
  int rows = 0;        ///< of a tile
  int strips = 0;      ///< tiles of an image
  int parts = 0;       ///< blocks of a cluster
  int most_tiles = 0;  ///< that a block has room for
  int slab_bytes = 0;  ///< a tile's pixels of 64 channels

  /// The plan of a problem that warpgroup_stationary_refusal() accepts.
  static StationaryPlan of(const ConvProblem& problem, const DeviceProperties& device);
  /// Shared memory of a block that takes `tiles` tiles.
  int64_t shared_bytes(int64_t tiles) const { return kFilterBytes + tiles * 2 * slab_bytes + kBarrierBytes; }
};

/// Where a weight goes: [filters / 64][channels / 64][9 taps][64 rows][64 channels], each such matrix as it
/// lies in shared memory, swizzled by 128 bytes.
size_t stationary_place(int64_t channels, int64_t filter, int64_t tap, int64_t channel);

/// Why the problem cannot run so on that device; empty when it can.
Refusal warpgroup_stationary_refusal(const ConvProblem& problem, const DeviceProperties& device);

/// Enqueues it; args.w lies as stationary_place() says, and is read before the kernel ahead has ended, as
/// args.bias is. Steps are at most those of StreamKind::kBounds and kAdd, others give cudaErrorInvalidValue.
/// With `pdl` it begins early.
cudaError_t launch_warpgroup_stationary(const ConvProblem& problem, const ConvArgs& args,
                                        const LaunchOptions& options);

}  // namespace hone::device::cuda
