// From a name or a path to a model: the one way in for every command and backend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/model.hpp"

namespace hone::importer {

struct LoadModelOptions {
  /// The parameters of a built-in architecture, a safetensors file, or of a darknet network, a .weights file;
  /// empty: they come from `seed`, those of a cfg file from the file next to it where there is one.
  std::filesystem::path weights;
  uint64_t seed = 0;
  /// Names of inputs that the caller has values for. Where a model brings a value for one of them, an
  /// initializer that is also an input, that is only its default.
  std::vector<std::string> given;
  /// The sections of a darknet network that are outputs: "layer_3", or "heads" or "all"; empty: the heads.
  std::vector<std::string> outputs;
  /// The program whose rules a darknet network follows, "alexeyab" or "pjreddie"; empty: the first.
  std::string darknet_rules;
  /// Sizes of open dimensions by their symbols, instead of those that the model's author calls typical
  /// (typical_sizes.hpp).
  std::map<std::string, int64_t> sizes;
  /// Told what a file has that is odd, but no error.
  std::function<void(const std::string&)> warn;
};

/// A model that an importer takes (importer.hpp): a built-in architecture, or a file. Usage error for an
/// unknown name, for outputs other than "all" if it is no darknet network, for weights given with a file that
/// brings its own, and for a size of a dimension that no input has; bad input for a file that is missing,
/// that no importer takes or that is not what its name says.
Model load_model(const std::string& name_or_path, const LoadModelOptions& options = {});

}  // namespace hone::importer
