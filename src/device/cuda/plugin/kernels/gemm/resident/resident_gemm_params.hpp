// The parameter of the resident GEMM's kernel, how its shared memory lies, and the table of compiled kernels.
// Internal.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm.hpp"

namespace hone::device::cuda {

struct ResidentParams {
  EpilogueParams epilogue;
  const void* x;
  const void* w;
  int channels;
  int slab;  ///< channels of a block
  int height;
  int width;
  int out_height;
  int out_width;
  int stride_h;
  int stride_w;
  int pad_top;
  int pad_left;
  FastDivisor tiles_n;
  FastDivisor parts;
  FastDivisor slab_pieces;  ///< slab / 8: 16 bytes each
  FastDivisor slab_steps;   ///< slab / 16
  FastDivisor kernel_w;
  // Windows: a tile is tile_h x tile_w output pixels, a patch what lies under their windows.
  FastDivisor tiles_x;
  FastDivisor tiles_y;
  FastDivisor patch_width;
  int tile_w_log2;
  int patch_pixels;
  // Pixels: a tile is a run of output pixels.
  FastDivisor out_pixels;  ///< out_height * out_width
  FastDivisor out_row;     ///< out_width
  bool dense;              ///< pixels of x and y are the same

  int taps;
  int depth_steps;   ///< taps * slab / 16
  int weight_pitch;  ///< bytes between two filters' rows in shared memory
  int patch_pitch;   ///< bytes between two pixels
  int tap_skip;      ///< bytes from the end of a tap's slab to the next tap in the row
  int row_skip;      ///< bytes from after a row's last tap to the next row's first
  int down_pitch;    ///< bytes between output pixels one below the other
  int right_pitch;   ///< bytes between neighbouring output pixels
  int patch_at;      ///< bytes from the start of shared memory
  int receive_at;
  bool next_waits;
};

/// A compiled kernel; `function` is null in a table's last entry.
struct ResidentKernel {
  int tile_m;
  int tile_n;
  int slices;
  int threads;
  const void* function;
};

// One table a source file, so that the compiler's work is spread. `Pixels`: kernels of 1 x 1 without padding;
// `Window`: all others.
extern const ResidentKernel kResidentHalfPixels[];
extern const ResidentKernel kResidentHalfWindow[];
extern const ResidentKernel kResidentBFloat16Pixels[];
extern const ResidentKernel kResidentBFloat16Window[];

struct ResidentShape {
  int tile_m;
  int tile_n;
  int slices;
  int warps_m;
  int warps_n;
};
inline constexpr ResidentShape kResidentShapes[] = {
    {16, 32, 8, 1, 1}, {16, 64, 4, 1, 2}, {32, 32, 4, 1, 1}, {32, 32, 8, 1, 1},  {32, 64, 4, 1, 2},
    {64, 32, 4, 2, 1}, {64, 64, 2, 2, 2}, {64, 64, 4, 2, 2}, {64, 128, 1, 2, 4}, {128, 64, 1, 4, 2}};

/// True if a pixel of y needs more than one pixel of x, or one that may be padding.
inline bool has_window(const ConvProblem& p) {
  return p.kernel_h != 1 || p.kernel_w != 1 || p.pad_top != 0 || p.pad_left != 0 || p.pad_bottom > 0 ||
         p.pad_right > 0;
}

/// A tile of output pixels as a rectangle, and the rectangle of pixels under its windows.
struct ResidentPatch {
  int tile_h = 1;
  int tile_w = 1;  ///< a power of 2
  int tiles_y = 1;
  int tiles_x = 1;
  int height = 1;
  int width = 1;
};
/// The rectangle of `tile_m` pixels with the fewest tiles; among equal ones, the one with the smallest patch.
ResidentPatch resident_patch(const ConvProblem& problem, int tile_m);
/// Sets the parameters of the patch; patch_pitch must be there.
void set_patch(const ConvProblem& problem, const ResidentPatch& patch, ResidentParams& params);

/// Tiles of pixels over all images.
int64_t resident_tiles_m(const ConvProblem& problem, int tile_m);

/// Bytes of a block's shared memory: barrier, bias, weights, patch, received sums. The sums of the slices
/// take the place of weights and patch.
struct ResidentMemory {
  static constexpr int64_t kBarrier = 16;
  int64_t weight_pitch;
  int64_t patch_pitch;
  int64_t patch_at;
  int64_t receive_at;
  int64_t total;
};
ResidentMemory resident_memory(const ConvProblem& problem, const ResidentConfig& config);

}  // namespace hone::device::cuda
