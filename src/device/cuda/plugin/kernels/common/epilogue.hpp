// What follows a convolution in the same kernel: the post-ops of fused nodes, applied to float values before
// they are rounded.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// In the order of graph::PostOp; alpha and beta mean what they mean there.
enum class PostOpKind : uint8_t {
  kRelu,
  kLeakyRelu,
  kClip,
  kSigmoid,
  kTanh,
  kHardSwish,
  kHardSigmoid,
  kSwish,
  kElu,
  kGeluErf,
  kGeluTanh,
  kSoftplus,
  kMish,
  kAdd,
  kMul,
  kSub
};

struct PostOpLink {
  PostOpKind kind = PostOpKind::kRelu;
  float alpha = 0;
  float beta = 0;
  /// For kAdd, kMul, kSub: of the output's type, order and shape when `full`; else float, read at
  /// n * batch_stride + c * channel_stride.
  const void* operand = nullptr;
  bool full = false;
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
};

struct Epilogue {
  static constexpr int kLimit = 8;
  int count = 0;
  PostOpLink links[kLimit];
};

}  // namespace hone::device::cuda
