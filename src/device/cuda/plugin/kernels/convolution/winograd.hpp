// Convolutions of 3 x 3 and 5 x 5 by minimal filtering (winograd_transforms.hpp): image and filters are
// transformed, multiplied as 36 matrix products, and transformed back. Only float is supported: its sums are
// nearly as accurate as those of a direct convolution, but a narrower type would lose digits to the
// cancellation in the transforms. An infinity in the image makes every output of its tiles NaN.
#pragma once

#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/epilogue.hpp"

namespace hone::device::cuda {

/// Stride and dilation are 1; images and outputs are channels-last.
struct Winograd {
  static constexpr int kProducts = 36;

  int64_t batch = 1;
  int64_t channels = 0;
  int64_t filters = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t out_height = 0;
  int64_t out_width = 0;
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  int taps = 3;

  /// Outputs along an edge of a tile.
  int tile() const { return 7 - taps; }
  int64_t tiles_y() const { return (out_height + tile() - 1) / tile(); }
  int64_t tiles_x() const { return (out_width + tile() - 1) / tile(); }
  int64_t tiles() const { return batch * tiles_y() * tiles_x(); }
  /// For a division of the tiles into `parts` equal parts: the number of tiles of one part, and the bytes of
  /// its transformed image and of its products.
  int64_t part_tiles(int64_t parts) const { return (tiles() + parts - 1) / parts; }
  int64_t image_bytes(int64_t parts) const { return product_bytes(parts, channels); }
  int64_t result_bytes(int64_t parts) const { return product_bytes(parts, filters); }
  int64_t filter_elements() const { return kProducts * filters * channels; }

 private:
  int64_t product_bytes(int64_t parts, int64_t columns) const;
};

/// The reason why the kernels cannot run the problem; empty if they can.
Refusal winograd_refusal(const Winograd& size);

/// The reason why the kernels would not be faster; empty if they may be.
Refusal winograd_loss(const Winograd& size);

/// The number of equal parts into which the tiles are divided so that the transformed image and the products
/// of a part have about `most_bytes` bytes or fewer; a part has at least one tile.
int64_t winograd_parts(const Winograd& size, int64_t most_bytes);

/// Transforms the filters [K][C][taps][taps] to [36][K][C], on the host.
void winograd_filter(const Winograd& size, const float* filter, float* to);

/// Transforms the tiles [first, first + count) of x to v [36][count][C], with zeros for tiles after the last
/// one. x is 8-byte aligned.
cudaError_t winograd_image(const Winograd& size, const float* x, int64_t first, int64_t count, float* v,
                           const LaunchOptions& options);

/// Transforms the products m [36][count][K] of those tiles to outputs y, 8-byte aligned, and applies the bias
/// (or null) and the post-ops.
cudaError_t winograd_result(const Winograd& size, const float* m, int64_t first, int64_t count,
                            const float* bias, const Epilogue& epilogue, float* y,
                            const LaunchOptions& options);

}  // namespace hone::device::cuda
