// Convolutions and matrix products of bytes by warpgroup GEMM (wgmma with sums of int32, only on compute
// capability 9.0): which configurations a problem has, and the launch.
//
// y = finish(scales[k] * sum + bias[k]), and what finish does to v is, in this order:
//   1. rounded: v = clamp(round(v), first_low, first_high) * first_factor;
//   2. an operand of y's shape: v += operand * operand_factor + operand_offset;
//   3. a function; 4. v = v * factor; 5. v = clamp(v, low, high);
//   6. of bytes: round(v) + zero_point, or the end of the byte's range that it is beyond.
#pragma once

#include <cuda_runtime_api.h>

#include <limits>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// Elements of y, and of an operand: signed or unsigned bytes are told apart where they are read.
enum class ByteResult : uint8_t { kBytes, kHalf, kFloat };

enum class ByteFunction : uint8_t {
  kBounds,  ///< none
  kAdd,     ///< none, but step 1 or 2
  kSwish,   ///< v * sigmoid(alpha * v)
  kGelu     ///< the one with erf
};

/// A product without groups. `shape.channels` is a multiple of 16, `shape.element` is not looked at.
struct ByteProblem {
  ConvProblem shape;
  bool unsigned_x = false;
  ByteResult result = ByteResult::kBytes;
  ByteFunction function = ByteFunction::kBounds;
};

/// Filters of a problem's weights: those of the problem up to a multiple of 16.
int64_t byte_filters(const ByteProblem& problem);
/// Numbers of `scales` and `bias`: those of all tiles.
int64_t byte_scales(const ByteProblem& problem);
/// The row of the weights that holds filter `filter`. From 16 filters each thread of a quarter has two pairs
/// of sums in wgmma's order; in this order they are four neighbours.
int64_t byte_filter_place(int64_t filter);

struct ByteFinish {
  bool rounds_first = false;
  float first_low = 0;
  float first_high = 0;
  float first_factor = 1;
  float operand_factor = 1;
  float operand_offset = 0;
  bool operand_unsigned = false;
  float alpha = 1;
  float factor = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  int zero_point = 0;
  bool unsigned_y = false;
  /// False where the range of y's bytes does what `low` and `high` do.
  bool clamps = true;
};

/// Device pointers, 16-byte aligned. w: [filters at byte_filter_place()][kernel_h][kernel_w][channels], int8,
/// byte_filters() of them; scales and bias: byte_scales() floats. The operand is null or has y's type and
/// shape; only kAdd has one.
struct ByteArgs {
  const void* x = nullptr;
  const void* w = nullptr;
  const float* scales = nullptr;
  const float* bias = nullptr;
  const void* operand = nullptr;
  void* y = nullptr;
  ByteFinish finish;
  bool next_waits = false;
};

/// Why the problem cannot run at all, or not so on that device; empty when it can.
Refusal byte_refusal(const ByteProblem& problem, const DeviceProperties& device);
Refusal byte_refusal(const ByteProblem& problem, const WarpgroupConfig& config,
                     const DeviceProperties& device);

/// The configurations that are valid, best guess first, at most `limit`.
std::vector<WarpgroupConfig> byte_configs(const ByteProblem& problem, const DeviceProperties& device,
                                          size_t limit = 12);

/// Enqueues the product; `pdl` and errors as launch_warpgroup(). Weights, scales and bias are read before the
/// kernel ahead has ended.
cudaError_t launch_bytes(const ByteProblem& problem, const WarpgroupConfig& config, const ByteArgs& args,
                         const LaunchOptions& options);

}  // namespace hone::device::cuda
