// Reads the parts of ONNX files that only conformance cases need: single tensors, and features of a model
// that an engine for tensors cannot support.
#pragma once

#include <filesystem>
#include <string>

#include "tensor/tensor.hpp"

namespace hone::importer {

struct NamedTensor {
  /// Empty if the file has no name for it.
  std::string name;
  tensor::Tensor tensor;
};

/// The tensor of one .pb file (a serialized onnx.TensorProto).
NamedTensor read_tensor_file(const std::filesystem::path& file);

/// The reason why hone cannot run a model: "string type", "sequence type", "optional type", "training
/// operator", "random operator", "float8 type", "complex type"; empty if it uses no such feature.
std::string unsupported_feature(const std::filesystem::path& model_file);

}  // namespace hone::importer
