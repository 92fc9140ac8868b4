// Between hone's tensors and PyTorch's: element types, inputs without a copy, outputs with one.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend::aten {

/// Bad input for a type that PyTorch 1.13 lacks (uint16, uint32, uint64).
at::ScalarType to_scalar_type(tensor::DType dtype);
/// Bad input for a type that hone lacks (complex, quantized).
tensor::DType to_dtype(at::ScalarType type);

/// A tensor over the same bytes, which it keeps alive; nobody may write to it.
at::Tensor torch_view_of(const tensor::Tensor& tensor);
/// A contiguous copy with element type `dtype`.
tensor::Tensor copy_of(const at::Tensor& tensor, tensor::DType dtype);

/// A rank-1 tensor of these numbers, which the tracer takes for a constant (it would record an at::tensor
/// call as the allocation only).
at::Tensor literal(const std::vector<int64_t>& values, at::Device device);

/// The line of PyTorch's message that says what went wrong, without stacks of C++ or TorchScript.
std::string message_line(const std::exception& error);
/// Environment if the device refused (no memory left, a lost GPU), else bad input.
ErrorKind error_kind(const std::exception& error);

/// Does it; errors of PyTorch outside of any operator become ours: copies, and failures of the device that
/// show when it is waited for.
template <class F>
auto translated(F action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    throw Error(error_kind(error), "PyTorch says: " + message_line(error));
  }
}

}  // namespace hone::backend::aten
