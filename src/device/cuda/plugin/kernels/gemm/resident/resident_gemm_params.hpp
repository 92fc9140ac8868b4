// The kernel parameter of the resident GEMM, the layout of its shared memory, and the tables of compiled
// kernels. Internal.
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
  FastDivisor slab_pieces;  ///< slab / 8, the number of 16-byte pieces
  FastDivisor slab_steps;   ///< slab / 16
  FastDivisor kernel_w;
  // For windows: a tile is tile_h x tile_w output pixels, and a patch is the pixels under their windows.
  FastDivisor tiles_x;
  FastDivisor tiles_y;
  FastDivisor patch_width;
  int tile_w_log2;
  int patch_pixels;
  // For single pixels: a tile is a run of output pixels.
  FastDivisor out_pixels;  ///< out_height * out_width
  FastDivisor out_row;     ///< out_width
  bool dense;              ///< x and y have the same pixels

  int taps;
  int depth_steps;   ///< taps * slab / 16
  int weight_pitch;  ///< bytes from one filter's row to the next in shared memory
  int patch_pitch;   ///< bytes from one pixel of the patch to the next
  int tap_skip;      ///< bytes from the end of a tap's slab to the next tap in the row
  int row_skip;      ///< bytes from the end of a row's last tap to the next row's first tap
  int down_pitch;    ///< bytes from an output pixel's window to that of the pixel below
  int right_pitch;   ///< bytes from an output pixel's window to that of its right neighbour
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

// One table in each source file, so that compilation runs in parallel. `Pixels` names the kernels for 1 x 1
// without padding, `Window` all others.
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

/// A rectangular tile of output pixels, and the rectangle of input pixels under its windows.
struct ResidentPatch {
  int tile_h = 1;
  int tile_w = 1;  ///< a power of 2
  int tiles_y = 1;
  int tiles_x = 1;
  int height = 1;
  int width = 1;
};
/// The rectangle of `tile_m` pixels that gives the fewest
/// tiles; among equal ones, that with the smallest patch.
ResidentPatch resident_patch(const ConvProblem& problem, int tile_m);
/// Sets the parameters of the patch; patch_pitch must be set already.
void set_patch(const ConvProblem& problem, const ResidentPatch& patch, ResidentParams& params);

/// The number of tiles of pixels over all images.
int64_t resident_tiles_m(const ConvProblem& problem, int tile_m);

/// Layout in bytes of a block's shared memory: barrier, bias, weights, patch, received sums. The sums of the
/// slices overwrite weights and patch.
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
