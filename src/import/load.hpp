// From a name or a path to a model: the one way in for every command and backend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "import/model.hpp"

namespace hone::importer {

struct LoadModelOptions {
  /// A safetensors file with the parameters of a built-in architecture; empty: they come from `seed`.
  std::filesystem::path weights;
  uint64_t seed = 0;
};

/// A built-in architecture ("resnet50"), an ONNX file (.onnx), or a TorchScript archive (.pt, .pth, .ts; its
/// graph stays null). Usage error for an unknown name, and for weights given with a file; bad input for a
/// file that is missing or is not what its name says.
Model load_model(const std::string& name_or_path, const LoadModelOptions& options = {});

/// Names of the built-in architectures, in the order they are shown.
std::vector<std::string> architecture_names();

}  // namespace hone::importer
