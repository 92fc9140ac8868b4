// The first convolution of an image network, whose three or four channels are too few for 16-byte loads. The
// image is laid out with its padding in memory and 4 or 8 channels a pixel, so that a window's row is one run
// of memory; the convolution over these runs is one that launch_conv takes, with a window one "pixel" wide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"

namespace hone::device::cuda {

/// The maximum over 3 x 3 outputs of the stem, two apart, instead of the outputs themselves.
struct StemPool {
  int pad_top = 0;   ///< 0 or 1
  int pad_left = 0;  ///< 0 or 1
  int out_height = 0;
  int out_width = 0;
};

/// The convolution of 1 x 1 after the pool, of 64 channels to 64: its filters as next_index() says, its
/// result, and the bounds of that.
struct StemNext {
  const void* w = nullptr;
  const float* bias = nullptr;  ///< may be null
  void* y = nullptr;            ///< [pixels of the pool][64]
  StreamEpilogue bounds = {};

  static constexpr int kChannels = 64;
  /// As wgmma takes left matrices from registers: [channels / 16][128 threads][8].
  static size_t next_index(int64_t filter, int64_t channel);
};

/// Order of a stem's weights. kWindows, for launch_conv: [filters][kernel_h][taps][pixel_channels]. kRuns:
/// that depth in runs of eight, [depth / 8][filters][8], so that runs of neighbouring filters lie side by
/// side. kFragments: 64 filters and 16 of that depth after the other as wgmma takes a left matrix from
/// registers, [filters / 64][depth / 16][128 threads][8].
enum class StemOrder : uint8_t { kWindows, kRuns, kFragments };

/// How a stem runs.
struct StemLayout {
  /// The problem for launch_conv; its input is the padded image.
  ConvProblem problem;
  int image_channels = 0;  ///< of the image: 1 to 8
  int image_height = 0;
  int image_width = 0;
  int pad_top = 0;
  int pad_left = 0;
  int padded_height = 0;
  int padded_width = 0;
  int pixel_channels =
      0;         ///< of the padded image: 4 when windows then start at multiples of 16 bytes, else 8
  int taps = 0;  ///< kernel_w, rounded up to 32 bytes; weights of the taps beyond kernel_w are zero
  std::optional<StemPool> pool;

  size_t image_elements() const {
    return static_cast<size_t>(problem.batch) * padded_height * padded_width * pixel_channels;
  }
  size_t weight_elements() const {
    return static_cast<size_t>(problem.filters) * problem.kernel_h * taps * pixel_channels;
  }
  /// The name of weights of that order in engine files. Only kernels for warpgroups take runs and fragments,
  /// and not of every image: their names begin as those of forms that do not stand for the constant
  /// (engine::kFinalForm).
  std::string form(StemOrder order) const;
  /// Where the weight of filter k, row r, column s and channel c goes; all others are zero. For kFragments,
  /// the filters have to be a multiple of 64.
  size_t weight_index(StemOrder order, int k, int r, int s, int c) const;
};

/// The layout for a convolution with 1 to 8 channels; nullopt when its elements are not of two bytes,
/// its filters no multiple of 8, its window dilated, or the numbers make no convolution.
std::optional<StemLayout> stem_layout(const ConvProblem& stem);

/// Rows of the padded image, and images: each is a row of blocks of a grid.
constexpr int kMostStemRows = 65535;

/// Enqueues the conversion of an image, float32 NCHW, to the padded image: zeros around it and in the
/// channels that it lacks. `target` is 16-byte aligned. `pdl` as for launch_conv.
cudaError_t launch_pad_image(const StemLayout& layout, const float* image, void* target,
                             const LaunchOptions& options);

}  // namespace hone::device::cuda
