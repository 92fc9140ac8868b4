// Squeeze and excitation in one kernel: a cluster of blocks takes an image, each block some pixels of some
// channels. Data that a block has read stay in its registers or its shared memory, as far as they fit, until
// the gates are known. The first product is linear in the means, so that each block multiplies the sums of
// its own part, and one exchange between the blocks is enough. Hu et al., "Squeeze-and-Excitation Networks"
// (2018).
#pragma once

#include <limits>
#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// A step without operand; by default nothing changes.
struct UnaryStep {
  graph::PostOp op = graph::PostOp::kClip;
  float alpha = -std::numeric_limits<float>::infinity();
  float beta = std::numeric_limits<float>::infinity();
};

/// y = x * gate(w2 * squeeze(w1 * mean(x) + b1) + b2), for each image of x [batch][pixels][channels].
struct SqueezeExcite {
  static constexpr int64_t kMostChannels = 8192;
  static constexpr int64_t kMostHidden = 512;
  static constexpr int64_t kMostPixels = int64_t{1} << 30;
  static constexpr int64_t kMostImages = int64_t{1} << 26;

  int64_t batch = 1;
  int64_t channels = 0;
  int64_t pixels = 0;
  int64_t hidden = 0;  ///< channels between the two products
  UnaryStep squeeze = {};
  UnaryStep gate = {};

  /// Elements that a row of w2 has.
  int64_t hidden_pitch() const { return (hidden + 7) / 8 * 8; }
};

/// How the blocks of a cluster share an image, and how each works. A run is eight neighbouring channels.
struct SqueezeExcitePlan {
  static constexpr int kMostBlocks = 16;  ///< of a cluster; every device that has clusters has those of 8
  static constexpr int kMostHeld = 8;     ///< rounds that registers have room for

  int pixel_parts = 1;
  int channel_parts = 1;
  int threads = 0;
  int part_pixels = 0;  ///< of a block; the last part may have fewer
  int part_runs = 0;
  int rows = 0;         ///< pixels that the threads of a block read at once, each thread a run
  int rounds = 0;       ///< until they have read all
  int kept_rounds = 0;  ///< whose pixels stay in shared memory; the others are read twice
  bool holds = false;   ///< all of them, which are few, stay in registers instead
  bool keeps_weights = false;
  int sum_pitch = 0;  ///< floats from one row's sums to the next
  int sum_lanes = 1;  ///< neighbouring threads that share one sum, product or gate
  int squeeze_lanes = 1;
  int gate_lanes = 1;
  /// Where things begin in shared memory, in bytes, all multiples of 16; weights first.
  int w2_at = 0;
  int b1_at = 0;
  int b2_at = 0;
  int sums_at = 0;
  int totals_at = 0;
  int received_at = 0;
  int hidden_at = 0;
  int gates_at = 0;
  int x_at = 0;
  int shared_bytes = 0;

  int blocks() const { return pixel_parts * channel_parts; }
};

/// Why it cannot run on such a device; empty when it can.
Refusal squeeze_excite_refusal(const SqueezeExcite& size, const DeviceProperties& device);

/// The plan with the least work for a block among those with at most `most_blocks` (2 to 16) blocks a
/// cluster. There is one for every problem that is not refused.
SqueezeExcitePlan squeeze_excite_plan(const SqueezeExcite& size, int most_blocks,
                                      const DeviceProperties& device);

/// Device pointers; x, w1, w2 and y 16-byte aligned.
struct SqueezeExciteArgs {
  const void* x = nullptr;
  const void* w1 = nullptr;   ///< [hidden][channels]
  const void* w2 = nullptr;   ///< [channels][hidden_pitch], zeros after `hidden`
  const float* b1 = nullptr;  ///< [hidden] or null
  const float* b2 = nullptr;  ///< [channels] or null
  void* y = nullptr;          ///< may be x
};

/// Elements are kHalf or kBfloat16, sums float32. Weights and biases are read before the kernel ahead has
/// ended, so that it must not write them. `plan` is one that squeeze_excite_plan() made for this device.
cudaError_t squeeze_excite(const SqueezeExciteArgs& args, FloatType type, const SqueezeExcite& size,
                           const SqueezeExcitePlan& plan, const LaunchOptions& options);

}  // namespace hone::device::cuda
