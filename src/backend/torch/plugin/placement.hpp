// Where and how a runner computes: precision, device and memory layout.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "backend/backend.hpp"

namespace hone::backend::aten {

struct Placement {
  Precision precision = Precision::kFp32;
  at::Device device = at::kCPU;
  /// Tensors of four axes lie as NHWC (torch.channels_last), the weights of convolutions among them.
  bool channels_last = false;

  /// float32 becomes float16 under fp16 and bfloat16 under bf16; other types stay.
  at::ScalarType scalar_type(at::ScalarType type) const;
  /// The tensor on this device, in this precision and layout; itself when it is so already. `pinned`: it lies
  /// in pinned host memory, and the copy of it may still be under way on the current stream.
  at::Tensor place(const at::Tensor& tensor, bool pinned = false) const;
  /// "fp16, channels-last".
  std::string text() const;
};

/// Lets float32 products round their factors to TF32, in cuBLAS and cuDNN alike.
void allow_tf32(bool allowed);
/// PyTorch's settings for this placement: TF32, cuDNN's search for the fastest algorithm, threads.
void use_settings(const Placement& placement, int threads);

}  // namespace hone::backend::aten
