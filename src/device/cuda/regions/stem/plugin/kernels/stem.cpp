// The layout of a stem's padded image. See stem.hpp.
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/wgmma_operands.cuh"

namespace hone::device::cuda {

std::string StemLayout::form(StemOrder order) const {
  const std::string size = std::to_string(taps) + "x" + std::to_string(pixel_channels);
  switch (order) {
    case StemOrder::kRuns: return "!stem-runs" + size;
    case StemOrder::kFragments: return "!stem-fragments" + size;
    default: return "stem" + size;
  }
}

size_t StemLayout::weight_index(StemOrder order, int k, int r, int s, int c) const {
  const auto filter = static_cast<size_t>(k);
  const size_t depth = static_cast<size_t>(problem.kernel_h) * taps * pixel_channels;
  const size_t along = (static_cast<size_t>(r) * taps + s) * pixel_channels + c;
  if (order == StemOrder::kRuns) return (along / 8 * problem.filters + filter) * 8 + along % 8;
  if (order == StemOrder::kWindows) return filter * depth + along;
  return (filter / 64 * (depth / 16) + along / 16) * ptx::kLeftElements +
         ptx::left_place(filter % 64, along % 16);
}

size_t StemNext::next_index(int64_t filter, int64_t channel) {
  return static_cast<size_t>(channel) / 16 * ptx::kLeftElements +
         ptx::left_place(static_cast<size_t>(filter), static_cast<size_t>(channel) % 16);
}

std::optional<StemLayout> stem_layout(const ConvProblem& stem) {
  ConvProblem rounded = stem;
  rounded.channels = 8;
  const bool possible = element_bytes(stem.element) == 2 && stem.channels >= 1 && stem.channels <= 8 &&
                        stem.dilation_w == 1 && stem.pad_top >= 0 && stem.pad_left >= 0 &&
                        stem.pixel_pitch == 0 && !conv_refusal(rounded);
  if (!possible) return std::nullopt;
  StemLayout layout;
  layout.image_channels = stem.channels;
  layout.image_height = stem.height;
  layout.image_width = stem.width;
  layout.pad_top = stem.pad_top;
  layout.pad_left = stem.pad_left;
  layout.pixel_channels = stem.channels <= 4 && stem.stride_w % 2 == 0 ? 4 : 8;
  // A step of the depth takes 32 bytes of a window's row.
  const int step = 16 / layout.pixel_channels;
  layout.taps = (stem.kernel_w + step - 1) / step * step;
  const int run = 8 / layout.pixel_channels;  // pixels in 16 bytes
  const int width = (stem.out_width() - 1) * stem.stride_w + layout.taps;
  layout.padded_width = (width + run - 1) / run * run;
  layout.padded_height = (stem.out_height() - 1) * stem.stride_h + stem.dilation_h * (stem.kernel_h - 1) + 1;

  if (layout.padded_height > kMostStemRows || stem.batch > kMostStemRows) return std::nullopt;

  ConvProblem& problem = layout.problem;
  problem = stem;
  problem.height = layout.padded_height;
  problem.width = layout.padded_width;
  problem.channels = layout.taps * layout.pixel_channels;
  problem.kernel_w = 1;
  problem.pad_top = problem.pad_left = problem.pad_bottom = 0;
  // The window is one pixel wide by count, so the columns that it covers are cropped from the width.
  problem.pad_right = (stem.out_width() - 1) * stem.stride_w + 1 - layout.padded_width;
  problem.pixel_pitch = layout.pixel_channels;
  if (conv_refusal(problem)) return std::nullopt;
  return layout;
}

}  // namespace hone::device::cuda
