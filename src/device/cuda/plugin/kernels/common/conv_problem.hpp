// A convolution as our tensor-core kernels take it: its extents, its epilogue and its operands.
//
// As a matrix product: rows are output pixels (batch * out_height * out_width), columns are filters, and the
// depth is kernel_h * kernel_w * channels. Layouts: x and y are NHWC, w is [filters][kernel_h][kernel_w]
// [channels]; elements are half, bfloat16 or float, sums are float32.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "graph/post_op.hpp"

namespace hone::device::cuda {

/// The type of the elements of x, w and y. kTf32 are floats that tensor cores multiply after rounding them to
/// 11 bits; w is rounded already.
enum class Element : uint8_t { kHalf, kBFloat16, kFloat, kTf32 };

inline int element_bytes(Element element) {
  return element == Element::kFloat || element == Element::kTf32 ? 4 : 2;
}
/// Elements in 16 bytes, which kernels load at once.
inline int vector_elements(Element element) { return 16 / element_bytes(element); }

/// A convolution without groups. `channels` is a multiple of vector_elements(), `filters` of 8.
struct ConvProblem {
  Element element = Element::kHalf;
  int batch = 1;
  int height = 0;  ///< of the input
  int width = 0;
  int channels = 0;
  int filters = 0;
  int kernel_h = 1;
  int kernel_w = 1;
  int stride_h = 1;
  int stride_w = 1;
  int pad_top = 0;
  int pad_left = 0;
  int pad_bottom = 0;  ///< negative crops, as pad_right
  int pad_right = 0;
  int dilation_h = 1;
  int dilation_w = 1;
  /// Elements between two pixels of a row when they overlap or have gaps; 0: `channels`, densely packed.
  int pixel_pitch = 0;
  /// True if y has floats whatever x and w have, as logits do. Only clusters of the warpgroup GEMM do that,
  /// with bounds after the sums at most.
  bool float_result = false;

  int out_height() const {
    return (height + pad_top + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  int out_width() const {
    return (width + pad_left + pad_right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
  int64_t rows() const { return int64_t{batch} * out_height() * out_width(); }
  int64_t depth() const { return int64_t{kernel_h} * kernel_w * channels; }
  int pitch() const { return pixel_pitch == 0 ? channels : pixel_pitch; }
  double flops() const { return 2.0 * static_cast<double>(rows()) * filters * static_cast<double>(depth()); }
};

/// True if a row of the product is a row of memory: no window, no stride, no padding.
inline bool is_pointwise(const ConvProblem& p) {
  return p.kernel_h == 1 && p.kernel_w == 1 && p.stride_h == 1 && p.stride_w == 1 && p.pad_top == 0 &&
         p.pad_left == 0 && p.pad_bottom == 0 && p.pad_right == 0 && p.pitch() == p.channels;
}

/// How an operand lies over the output.
enum class OperandShape : uint8_t {
  kFull,             ///< as y: [batch][out_height][out_width][filters]
  kPerImageChannel,  ///< [batch][filters]
  kPerChannel        ///< [filters]
};

/// Applied to the sum plus bias; what alpha and beta mean says the post-op.
struct EpilogueStep {
  graph::PostOp op = graph::PostOp::kRelu;
  float alpha = 0;
  float beta = 0;
  OperandShape shape = OperandShape::kFull;  ///< of a binary operation's operand
  const void* operand = nullptr;             ///< elements as y, 16-byte aligned
};

inline constexpr int kMaxEpilogueSteps = 6;

/// Device pointers, all 16-byte aligned; `bias` is float32 [filters] or null.
struct ConvArgs {
  const void* x = nullptr;
  const void* w = nullptr;
  const float* bias = nullptr;
  void* y = nullptr;
  std::array<EpilogueStep, kMaxEpilogueSteps> steps{};
  int step_count = 0;
  /// True if the next kernel of the stream is one of ours that waits for this one itself
  /// (griddepcontrol.wait), so that it may be let in early. Kernels of libraries need not wait as ours do.
  bool next_waits = false;
  /// Conv_workspace_bytes() bytes of any content; launches on one stream share them.
  void* workspace = nullptr;
  /// Conv_counter_bytes() bytes, zeroed once before the first launch; launches on one stream share them.
  void* counters = nullptr;
};

/// Why the problem cannot run at all; empty when it can.
Refusal conv_refusal(const ConvProblem& problem);

}  // namespace hone::device::cuda
