// Converts between hone's tensors and PyTorch's: element types, inputs without a copy, outputs with one.
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

/// A tensor that shares the same bytes and keeps them alive; it must not be written to.
at::Tensor torch_view_of(const tensor::Tensor& tensor);
/// A contiguous copy with element type `dtype`.
tensor::Tensor copy_of(const at::Tensor& tensor, tensor::DType dtype);

/// A rank-1 tensor of these numbers that the tracer records as a constant. For an at::tensor call it would
/// record only the allocation.
at::Tensor literal(const std::vector<int64_t>& values, at::Device device);

/// The line of PyTorch's message that gives the reason, without C++ or TorchScript stacks.
std::string message_line(const std::exception& error);
/// Environment if the device failed (no memory left, a lost GPU), otherwise bad input.
ErrorKind error_kind(const std::exception& error);

/// Runs the action and converts errors of PyTorch outside operators to ours: those of copies, and failures of
/// the device that appear only when it is waited for.
template <class F>
auto translated(F action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    throw Error(error_kind(error), "PyTorch says: " + message_line(error));
  }
}

}  // namespace hone::backend::aten
