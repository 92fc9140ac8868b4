// Reads the parts of ONNX files that only conformance cases need: single tensors, and whether a model uses
// something that no tensor engine has.
#pragma once

#include <filesystem>
#include <string>

#include "tensor/tensor.hpp"

namespace hone::importer {

struct NamedTensor {
  /// Empty where the file does not say.
  std::string name;
  tensor::Tensor tensor;
};

/// The tensor of one .pb file (a serialized onnx.TensorProto).
NamedTensor read_tensor_file(const std::filesystem::path& file);

/// Why a model lies outside what hone runs: "string type", "sequence type", "optional type", "training
/// operator", "random operator", "float8 type", "complex type"; empty when nothing of that kind is in it.
std::string unsupported_feature(const std::filesystem::path& model_file);

}  // namespace hone::importer
