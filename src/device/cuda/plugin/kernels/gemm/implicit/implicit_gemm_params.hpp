// The kernel parameter of the implicit GEMM, and the tables of compiled kernels. Internal.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"

namespace hone::device::cuda {

/// The common parameters of kernels that may split the depth over blocks.
struct TileParams {
  EpilogueParams epilogue;
  float* partials;
  unsigned* counters;
  FastDivisor tiles_n;
  FastDivisor split;
  int depth_steps;    ///< stages of the whole depth
  int staging_bytes;  ///< bytes of shared memory before the bias
  int stages;
  int split_k;
  bool cluster;
  bool next_waits;
};

struct GemmParams : TileParams {
  const void* x;
  const void* w;
  int depth;
  FastDivisor out_width;
  FastDivisor channels;
  FastDivisor kernel_w;
  int image_pitch;  ///< elements from one image to the next; then for rows and pixels
  int row_pitch;
  int pixel_pitch;
  int height;
  int width;
  int stride_h;
  int stride_w;
  int pad_top;
  int pad_left;
  int dilation_h;
  int dilation_w;
};

/// A compiled kernel and its tile; `function` is null in a table's last entry.
struct GemmKernel {
  int tile_m;
  int tile_n;
  int tile_k;
  int threads;
  const void* function;
};

// One table in each source file, so that compilation runs in parallel: element, loader, small or large tiles.
extern const GemmKernel kHalfPointwiseSmall[];
extern const GemmKernel kHalfPointwiseLarge[];
extern const GemmKernel kHalfWindowSmall[];
extern const GemmKernel kHalfWindowLarge[];
extern const GemmKernel kBFloat16PointwiseSmall[];
extern const GemmKernel kBFloat16PointwiseLarge[];
extern const GemmKernel kBFloat16WindowSmall[];
extern const GemmKernel kBFloat16WindowLarge[];
extern const GemmKernel kFloatPointwise[];
extern const GemmKernel kFloatWindow[];
extern const GemmKernel kTf32Pointwise[];
extern const GemmKernel kTf32Window[];

/// Compiled tiles, small ones first: tile_m, tile_n, tile_k, threads.
struct TileShape {
  int tile_m;
  int tile_n;
  int tile_k;
  int threads;
};
inline constexpr TileShape kTileShapes[] = {
    {16, 64, 64, 128},  {16, 64, 128, 128},  {32, 32, 32, 128},  {32, 32, 64, 128},  {32, 32, 128, 128},
    {32, 64, 64, 128},  {32, 64, 128, 128},  {64, 32, 32, 128},  {64, 32, 64, 128},  {64, 32, 128, 128},
    {64, 64, 32, 128},  {64, 64, 64, 128},   {64, 64, 128, 128}, {64, 128, 64, 128}, {128, 64, 32, 128},
    {128, 64, 64, 128}, {128, 128, 32, 256}, {128, 128, 64, 256}};
/// Compiled tiles for elements of four bytes.
inline constexpr TileShape kWideTileShapes[] = {{32, 32, 32, 128},  {32, 64, 32, 128},  {64, 32, 32, 128},
                                                {64, 64, 16, 128},  {64, 64, 32, 128},  {64, 128, 32, 128},
                                                {128, 64, 32, 128}, {128, 128, 16, 256}};

/// The most tiles of a problem whose depth is split with Reduction::kWorkspace. More tiles fill any GPU
/// without splitting.
inline constexpr int kMaxSplitTiles = 16384;

/// Bytes of a block's shared memory: stages or the staged tile, then bias, then the prefetched operand.
inline int64_t staging_bytes(const ConvConfig& config, Element element) {
  const int64_t ring =
      int64_t{config.stages} * (config.tile_m + config.tile_n) * config.tile_k * element_bytes(element);
  const int64_t tile = int64_t{config.tile_m} * (config.tile_n + kStagePad) * 4;
  return ring > tile ? ring : tile;
}
inline int64_t shared_bytes(const ConvConfig& config, Element element, bool prefetch) {
  const int64_t operand = prefetch ? int64_t{config.tile_m} * config.tile_n * element_bytes(element) : 0;
  return staging_bytes(config, element) + int64_t{config.tile_n} * 4 + operand;
}

}  // namespace hone::device::cuda
