// Loads a model by its name or path. Every command and backend loads models through this function.
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
  /// The parameters: a safetensors file for a built-in architecture, or a .weights file for a darknet
  /// network. If it is empty, they come from the file next to a cfg file if there is one, else from `seed`.
  std::filesystem::path weights;
  uint64_t seed = 0;
  /// Names of inputs for which the caller has values. If the model has an initializer for one of these
  /// inputs, it is only the default.
  std::vector<std::string> given;
  /// The sections of a darknet network that are outputs: "layer_3", or "heads" or "all"; empty: the heads.
  std::vector<std::string> outputs;
  /// The program whose rules a darknet network follows, "alexeyab" or "pjreddie"; empty: the first.
  std::string darknet_rules;
  /// Sizes of open dimensions by their symbols, instead of those that the model's author calls typical
  /// (typical_sizes.hpp).
  std::map<std::string, int64_t> sizes;
  /// Called for unusual content of a file that is not an error.
  std::function<void(const std::string&)> warn;
};

/// Loads a built-in architecture or a file with the importer that takes it (importer.hpp). Throws a usage
/// error for an unknown name, for outputs other than "all" unless it is a darknet network, for weights given
/// with a file that has its own, and for the size of a dimension that no input has. Throws bad input for a
/// file that is missing, that no importer takes, or whose content does not match its name.
Model load_model(const std::string& name_or_path, const LoadModelOptions& options = {});

}  // namespace hone::importer
