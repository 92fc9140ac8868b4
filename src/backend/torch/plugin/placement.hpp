// The precision, device and memory layout of a runner.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "backend/backend.hpp"

namespace hone::backend::aten {

struct Placement {
  Precision precision = Precision::kFp32;
  at::Device device = at::kCPU;
  /// True if tensors with four axes, including the weights of convolutions, are NHWC (torch.channels_last).
  bool channels_last = false;

  /// float32 becomes float16 in fp16 and bfloat16 in bf16; other types do not change.
  at::ScalarType scalar_type(at::ScalarType type) const;
  /// The tensor on this device, in this precision and layout; the same tensor
  /// if it already is. `pinned` means that it is in pinned host memory, and
  /// that its copy may still be in progress on the current stream.
  at::Tensor place(const at::Tensor& tensor, bool pinned = false) const;
  /// "fp16, channels-last".
  std::string text() const;
};

/// Lets float32 products round their factors to TF32, in both cuBLAS and cuDNN.
void allow_tf32(bool allowed);
/// Applies PyTorch's settings for this placement: TF32, cuDNN's search for the fastest algorithm, threads.
void use_settings(const Placement& placement, int threads);

}  // namespace hone::backend::aten
