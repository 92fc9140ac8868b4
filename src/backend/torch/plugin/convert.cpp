// See convert.hpp.
#include "backend/torch/plugin/convert.hpp"

#include <ATen/TracerMode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

#include <cstring>

namespace hone::backend::aten {

using tensor::DType;

at::ScalarType to_scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return at::kFloat;
    case DType::kFloat64: return at::kDouble;
    case DType::kFloat16: return at::kHalf;
    case DType::kBFloat16: return at::kBFloat16;
    case DType::kInt8: return at::kChar;
    case DType::kInt16: return at::kShort;
    case DType::kInt32: return at::kInt;
    case DType::kInt64: return at::kLong;
    case DType::kUInt8: return at::kByte;
    case DType::kBool: return at::kBool;
    default: fail_bad_input("PyTorch has no element type {}", tensor::dtype_name(dtype));
  }
}

DType to_dtype(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return DType::kFloat32;
    case at::kDouble: return DType::kFloat64;
    case at::kHalf: return DType::kFloat16;
    case at::kBFloat16: return DType::kBFloat16;
    case at::kChar: return DType::kInt8;
    case at::kShort: return DType::kInt16;
    case at::kInt: return DType::kInt32;
    case at::kLong: return DType::kInt64;
    case at::kByte: return DType::kUInt8;
    case at::kBool: return DType::kBool;
    default: fail_bad_input("the model gives a tensor of PyTorch type {}", c10::toString(type));
  }
}

at::Tensor torch_view_of(const tensor::Tensor& tensor) {
  const at::ScalarType type = to_scalar_type(tensor.dtype());
  // The deleter's capture keeps the bytes alive.
  return at::from_blob(
      const_cast<std::byte*>(tensor.bytes()), tensor.shape(), [keep = tensor](void*) {},
      at::TensorOptions().dtype(type));
}

tensor::Tensor copy_of(const at::Tensor& source, DType dtype) {
  tensor::Tensor result(dtype, tensor::Shape(source.sizes().begin(), source.sizes().end()));
  const at::Tensor target =
      at::from_blob(result.mutable_bytes(), result.shape(), at::TensorOptions().dtype(to_scalar_type(dtype)));
  target.copy_(source);
  return result;
}

at::Tensor literal(const std::vector<int64_t>& values, at::Device device) {
  const at::tracer::impl::NoTracerDispatchMode untraced;
  return at::tensor(values, at::TensorOptions().dtype(at::kLong).device(device));
}

std::string message_line(const std::exception& error) {
  const std::string text = error.what();
  // The TorchScript interpreter's message begins with the failing line and ends with the reason.
  constexpr std::string_view kReason = "RuntimeError: ";
  const size_t found = text.rfind(kReason);
  const size_t begin = text.find_first_not_of(" \n", found == std::string::npos ? 0 : found + kReason.size());
  if (begin == std::string::npos) return "an error without a message";
  return text.substr(begin, text.find('\n', begin) - begin);
}

ErrorKind error_kind(const std::exception& error) {
  const std::string text = error.what();
  for (const char* sign : {"out of memory", "CUDA error", "CUDA driver error", "cuDNN error",
                           "CUBLAS_STATUS_", "DefaultCPUAllocator"}) {
    if (text.find(sign) != std::string::npos) return ErrorKind::kEnvironment;
  }
  return ErrorKind::kBadInput;
}

}  // namespace hone::backend::aten
