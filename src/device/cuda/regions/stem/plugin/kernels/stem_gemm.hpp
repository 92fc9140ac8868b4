// The first convolution of an image network, straight from the image: a block lays out the part of it under
// its windows in shared memory, 4 or 8 channels a pixel, where a window's row is one run, so that the image
// is read once and no padded copy of it is made. mma.sync or wgmma, compute capability 9.0. By warpgroups it
// can pool as well, so that the outputs of the convolution stay in shared memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

namespace hone::device::cuda {

/// The units that multiply: warps, warpgroups with filters in shared memory, or ones with filters in
/// registers that pool as well, in turns. Warpgroups need compute capability 9.0, and windows that start 16
/// bytes apart.
enum class StemWay : uint8_t { kWarps, kWarpgroups, kPooled };

/// One way to run a stem: output pixels and filters of a block's tile.
struct StemConfig {
  int tile_m = 128;
  int tile_n = 64;
  StemWay way = StemWay::kWarps;

  /// For instance "128x64", "w256x64" or "p240x64".
  std::string text() const;
  /// How it wants the weights.
  StemOrder order() const;
  static std::optional<StemConfig> parse(const std::string& text);
  bool operator==(const StemConfig&) const = default;
};

/// Why the stem cannot run so on that device; empty when it can.
Refusal stem_refusal(const StemLayout& layout, const StemConfig& config, const DeviceProperties& device);

/// The configurations that are valid, those of large tiles first.
std::vector<StemConfig> stem_configs(const StemLayout& layout, const DeviceProperties& device);

/// Enqueues the convolution. `args.x` is the image, float32 NCHW; weights are those of the layout, in the
/// configuration's order; steps must be unary; everything else is as for launch_conv, without a workspace.
cudaError_t launch_stem(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                        const LaunchOptions& options);

/// Also computes the convolution after the pool, for pooled stems of 64 filters; `next` is read when called.
cudaError_t launch_stem_and_next(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                                 const StemNext& next, const LaunchOptions& options);

}  // namespace hone::device::cuda
