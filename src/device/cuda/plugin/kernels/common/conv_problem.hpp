// A convolution as our tensor-core kernels see it: its extents, its epilogue and its operands.
//
// As a matrix product, rows are output pixels (batch * out_height * out_width), columns are filters, and the
// depth is kernel_h * kernel_w * channels. Layouts: x and y are NHWC, w is
// [filters][kernel_h][kernel_w][channels]. Elements are half, bfloat16 or float; sums are float32.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "graph/post_op.hpp"

namespace hone::device::cuda {

/// The type of the elements of x, w and y. Elements of kTf32 are floats that tensor cores round to 11 bits
/// before they multiply; w has already been rounded.
enum class Element : uint8_t { kHalf, kBFloat16, kFloat, kTf32 };

inline int element_bytes(Element element) {
  return element == Element::kFloat || element == Element::kTf32 ? 4 : 2;
}
/// Elements in the 16 bytes that kernels load at once.
inline int vector_elements(Element element) { return 16 / element_bytes(element); }

/// A convolution without groups. `channels` is a multiple of vector_elements(), `filters` a multiple of 8.
struct ConvProblem {
  Element element = Element::kHalf;
  int batch = 1;
  int height = 0;  ///< of the input, as is `width`
  int width = 0;
  int channels = 0;
  int filters = 0;
  int kernel_h = 1;
  int kernel_w = 1;
  int stride_h = 1;
  int stride_w = 1;
  int pad_top = 0;
  int pad_left = 0;
  int pad_bottom = 0;  ///< negative values crop, also in pad_right
  int pad_right = 0;
  int dilation_h = 1;
  int dilation_w = 1;
  /// Elements from one pixel of a row to the next if pixels
  /// overlap or have gaps; 0 means `channels`, without gaps.
  int pixel_pitch = 0;
  /// True if y is float whatever the type of x and w, as for logits. Only the warpgroup GEMM in clusters
  /// supports it, with at most bounds as its epilogue.
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

/// The shape of a binary step's operand.
enum class OperandShape : uint8_t {
  kFull,             ///< [batch][out_height][out_width][filters], as y
  kPerImageChannel,  ///< [batch][filters]
  kPerChannel        ///< [filters]
};

/// A step applied to the sum plus bias; the post-op defines alpha and beta.
struct EpilogueStep {
  graph::PostOp op = graph::PostOp::kRelu;
  float alpha = 0;
  float beta = 0;
  OperandShape shape = OperandShape::kFull;  ///< of a binary step's operand
  const void* operand = nullptr;             ///< elements of y's type, 16-byte aligned
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
  /// True if the next kernel of the stream is one of ours and itself waits for this one
  /// (griddepcontrol.wait), so that it may start early. Kernels of libraries do not always wait.
  bool next_waits = false;
  /// Memory of conv_workspace_bytes() bytes with any content; launches on one stream share it.
  void* workspace = nullptr;
  /// Memory of conv_counter_bytes() bytes, zeroed before the first launch; launches on one stream share it.
  void* counters = nullptr;
};

/// The reason why the problem cannot run at all; empty if it can.
Refusal conv_refusal(const ConvProblem& problem);

}  // namespace hone::device::cuda
