// One entry of the list of importers: the models that it takes, by name or by file, and its load function.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/load.hpp"

namespace hone::importer {

struct Importer {
  /// The name for messages: "ONNX".
  std::string_view kind;
  /// The names of its built-in models; null for an importer of files.
  std::vector<std::string> (*names)() = nullptr;
  /// The suffixes of its file names: ".onnx".
  std::span<const std::string_view> suffixes = {};
  /// The first bytes of its files, for files with other suffixes; empty if they do not identify the format.
  std::string_view magic = {};
  /// True if it uses LoadModelOptions::weights.
  bool takes_weights = false;
  /// True if it uses LoadModelOptions::outputs and darknet_rules.
  bool has_sections = false;
  /// `model` is one of its names, or a file. Throws bad input if the file is invalid.
  Model (*load)(const std::string& model, const LoadModelOptions& options) = nullptr;
};

/// Importers in the order in which they are shown.
std::span<const Importer> importers();

/// The importer for a file, found by the suffix of its name or else by its first bytes. If no importer takes
/// the file, throws bad input that lists the supported kinds.
const Importer& importer_of(const std::filesystem::path& file);

/// The supported files, for messages: "ONNX (.onnx), darknet (.cfg), TorchScript (.pt, .pth, .ts)".
std::string file_kinds();

}  // namespace hone::importer
