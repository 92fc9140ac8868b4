// Applies an Epilogue to values in registers.
#pragma once

#include "device/cuda/plugin/kernels/common/activation.cuh"
#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/quick_sigmoid.cuh"

namespace hone::device::cuda {

template <int width, class Function>
__device__ __forceinline__ void for_each(float (&x)[width], const Function& function) {
#pragma unroll
  for (int i = 0; i < width; ++i) x[i] = function(x[i]);
}

/// The sigmoid for results of type T.
template <class T>
__device__ __forceinline__ float sigmoid_for(float x) {
  return sizeof(T) == 2 ? quick_sigmoid(x) : sigmoid(x);
}

/// Loads the second operands for `width` channels from `c` of image `n`, whose first output is at `offset`.
template <class T, int width>
__device__ __forceinline__ void load_operand(const PostOpLink& link, int64_t n, int64_t c, int64_t offset,
                                             float (&to)[width]) {
  if (link.full) {
    load_floats<width>(static_cast<const T*>(link.operand) + offset, to);
    return;
  }
  const float* from =
      static_cast<const float*>(link.operand) + n * link.batch_stride + c * link.channel_stride;
#pragma unroll
  for (int i = 0; i < width; ++i) to[i] = from[i * link.channel_stride];
}

/// Applies all links to `width` adjacent channels of one channels-last pixel of type T.
template <class T, int width>
__device__ __forceinline__ void apply_epilogue(const Epilogue& epilogue, float (&x)[width], int64_t n,
                                               int64_t c, int64_t offset) {
#pragma unroll 1
  for (int i = 0; i < epilogue.count; ++i) {
    const PostOpLink& link = epilogue.links[i];
    const float alpha = link.alpha;
    const float beta = link.beta;
    float y[width];
    switch (link.op) {
      case graph::PostOp::kRelu: for_each(x, [](float v) { return v < 0.0f ? 0.0f : v; }); break;
      case graph::PostOp::kLeakyRelu: for_each(x, [=](float v) { return v < 0.0f ? alpha * v : v; }); break;
      case graph::PostOp::kClip: for_each(x, [=](float v) { return clip(v, alpha, beta); }); break;
      case graph::PostOp::kHardSigmoid:
        for_each(x, [=](float v) { return clip(alpha * v + beta, 0.0f, 1.0f); });
        break;
      case graph::PostOp::kHardSwish:
        for_each(x, [](float v) { return v * clip(v + 3.0f, 0.0f, 6.0f) * (1.0f / 6); });
        break;
      case graph::PostOp::kSigmoid: for_each(x, [](float v) { return sigmoid_for<T>(v); }); break;
      case graph::PostOp::kSwish: for_each(x, [=](float v) { return v * sigmoid_for<T>(alpha * v); }); break;
      case graph::PostOp::kAdd: load_operand<T>(link, n, c, offset, y);
#pragma unroll
        for (int k = 0; k < width; ++k) x[k] += y[k];
        break;
      case graph::PostOp::kMul: load_operand<T>(link, n, c, offset, y);
#pragma unroll
        for (int k = 0; k < width; ++k) x[k] *= y[k];
        break;
      case graph::PostOp::kSub: load_operand<T>(link, n, c, offset, y);
#pragma unroll
        for (int k = 0; k < width; ++k) x[k] -= y[k];
        break;
      default:
        // Only one copy of this code is compiled: the values pass through the first register in turn.
#pragma unroll 1
        for (int k = 0; k < width; ++k) {
          const float v = rare_activation(link.op, x[0], alpha);
#pragma unroll
          for (int j = 0; j + 1 < width; ++j) x[j] = x[j + 1];
          x[width - 1] = v;
        }
    }
  }
}

/// True if all full operands allow 16-byte accesses.
inline bool is_aligned(const Epilogue& epilogue) {
  for (int i = 0; i < epilogue.count; ++i) {
    if (epilogue.links[i].full && !is_aligned(epilogue.links[i].operand)) return false;
  }
  return true;
}

}  // namespace hone::device::cuda
