// The epilogue of a convolution in the same kernel: the post-ops of fused nodes, applied to float values
// before they are rounded.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "graph/post_op.hpp"

namespace hone::device::cuda {

/// The post-op defines the meaning of alpha and beta.
struct PostOpLink {
  graph::PostOp op = graph::PostOp::kRelu;
  float alpha = 0;
  float beta = 0;
  /// For kAdd, kMul, kSub. If `full`, it has the type, order and shape of the output; otherwise it is float
  /// and read at n * batch_stride + c * channel_stride.
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
