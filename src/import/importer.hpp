// One entry of the list of importers: which models it takes, by name or by file, and how it loads them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/load.hpp"

namespace hone::importer {

struct Importer {
  /// For people: "ONNX".
  std::string_view kind;
  /// The names of the models that it has; empty for one of files.
  std::vector<std::string> (*names)() = nullptr;
  /// How the names of its files end: ".onnx".
  std::span<const std::string_view> suffixes = {};
  /// The first bytes of its files, for files whose names end otherwise; empty if these do not identify them.
  std::string_view magic = {};
  /// True if LoadModelOptions::weights are for it.
  bool takes_weights = false;
  /// True if LoadModelOptions::outputs and darknet_rules are for it.
  bool has_sections = false;
  /// `model` is one of its names, or a file. Bad input when the file is not what it should be.
  Model (*load)(const std::string& model, const LoadModelOptions& options) = nullptr;
};

/// Importers in the order in which they are shown.
std::span<const Importer> importers();

/// The importer of a file: by the end of its name, else by its first bytes. Bad input that lists what all of
/// them take, where none takes it.
const Importer& importer_of(const std::filesystem::path& file);

/// The files that they take, for people: "ONNX (.onnx), darknet (.cfg), TorchScript (.pt, .pth, .ts)".
std::string file_kinds();

}  // namespace hone::importer
