// Convolutions and matrix products of bytes by warpgroup GEMM (wgmma with sums of int32, only on compute
// capability 9.0): which configurations a problem has, and the launch.
//
// y = finish(scales[k] * sum + bias[k]), where finish applies these steps to v, in this order:
//   1. rounded: v = clamp(round(v), first_low, first_high) * first_factor;
//   2. an operand of y's shape is added: v += operand * operand_factor + operand_offset;
//   3. a function; 4. v = v * factor; 5. v = clamp(v, low, high);
//   6. if y has bytes: round(v) + zero_point, saturated to the range of the byte.
#pragma once

#include <cuda_runtime_api.h>

#include <limits>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// Elements of y and of an operand. Kernels distinguish signed from unsigned bytes when they read them.
enum class ByteResult : uint8_t { kBytes, kHalf, kFloat };

enum class ByteFunction : uint8_t {
  kBounds,  ///< no function
  kAdd,     ///< no function, but step 1 or 2 applies
  kSwish,   ///< v * sigmoid(alpha * v)
  kGelu     ///< the exact GELU, with erf
};

/// A product without groups. `shape.channels` is a multiple of 16; `shape.element` is ignored.
struct ByteProblem {
  ConvProblem shape;
  bool unsigned_x = false;
  ByteResult result = ByteResult::kBytes;
  ByteFunction function = ByteFunction::kBounds;
};

/// Filters of the packed weights: the problem's filters rounded up to a multiple of 16.
int64_t byte_filters(const ByteProblem& problem);
/// Lengths of `scales` and `bias`: the filters rounded up to whole tiles.
int64_t byte_scales(const ByteProblem& problem);
/// The row of the weights that holds filter `filter`. In wgmma's order, each thread of a group of four has
/// two separate pairs of sums among 16 filters; in this order, its four sums are adjacent.
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
  /// False if the range of y's bytes already implies `low` and `high`.
  bool clamps = true;
};

/// Device pointers, 16-byte aligned. `w` has the layout [byte_filters()][kernel_h][kernel_w][channels] in
/// int8, with filter k in row byte_filter_place(k). `scales` and `bias` have byte_scales() floats. The
/// operand is null or has y's type and shape; only kAdd has one.
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

/// The reason why the problem cannot run at all, or not on
/// that device or in that configuration; empty if it can.
Refusal byte_refusal(const ByteProblem& problem, const DeviceProperties& device);
Refusal byte_refusal(const ByteProblem& problem, const WarpgroupConfig& config,
                     const DeviceProperties& device);

/// The valid configurations, best guess first, at most `limit`.
std::vector<WarpgroupConfig> byte_configs(const ByteProblem& problem, const DeviceProperties& device,
                                          size_t limit = 12);

/// Enqueues the product; `pdl` and errors are those of launch_warpgroup(). The kernel may read weights,
/// scales and bias before the previous kernel has ended.
cudaError_t launch_bytes(const ByteProblem& problem, const WarpgroupConfig& config, const ByteArgs& args,
                         const LaunchOptions& options);

}  // namespace hone::device::cuda
