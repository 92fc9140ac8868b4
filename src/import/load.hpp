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
  /// Names of inputs that the caller has values for. Where a model brings a value for one of them, an
  /// initializer that is also an input, that is only its default.
  std::vector<std::string> given;
};

/// A model that an importer takes (importer.hpp): a built-in architecture, or a file. Usage error for an
/// unknown name, and for weights given with a file that brings its own; bad input for a file that is missing,
/// that no importer takes or that is not what its name says.
Model load_model(const std::string& name_or_path, const LoadModelOptions& options = {});

}  // namespace hone::importer
