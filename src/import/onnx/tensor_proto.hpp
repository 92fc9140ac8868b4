// Tensors of ONNX files: typed fields, raw bytes, external data and sparse tensors become host tensors.
#pragma once

#include "import/onnx/external_data.hpp"
#include "import/onnx/proto.hpp"
#include "tensor/tensor.hpp"

namespace hone::importer {

/// Bad input, naming the field, when type, dimensions and bytes do not agree.
tensor::Tensor read_tensor(const onnx::TensorProto& proto, ExternalFolder& folder);
/// The same, taking the raw bytes out of `proto` instead of copying them.
tensor::Tensor take_tensor(onnx::TensorProto& proto, ExternalFolder& folder);
/// Dense; bad input beyond kMaxSparseBytes.
tensor::Tensor read_sparse_tensor(const onnx::SparseTensorProto& proto, ExternalFolder& folder);
/// The element type of a file as one that tensors can have; bad input for others.
tensor::DType read_dtype(int32_t data_type);

}  // namespace hone::importer
