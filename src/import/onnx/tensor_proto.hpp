// Converts tensors of ONNX files (typed fields, raw bytes, external data, sparse tensors) to host tensors.
#pragma once

#include "import/onnx/external_data.hpp"
#include "import/onnx/proto.hpp"
#include "tensor/tensor.hpp"

namespace hone::importer {

/// Throws bad input that names the field if type, dimensions and bytes do not agree.
tensor::Tensor read_tensor(const onnx::TensorProto& proto, ExternalFolder& folder);
/// Like read_tensor(), but moves the raw bytes out of `proto` instead of copying them.
tensor::Tensor take_tensor(onnx::TensorProto& proto, ExternalFolder& folder);
/// Converts to a dense tensor; bad input beyond kMaxSparseBytes.
tensor::Tensor read_sparse_tensor(const onnx::SparseTensorProto& proto, ExternalFolder& folder);
/// Converts the element type of a file; bad input for types that hone's tensors do not support.
tensor::DType read_dtype(int32_t data_type);

}  // namespace hone::importer
