// Built-in architectures as graphs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "import/load.hpp"

namespace hone::importer {

/// The verified graph of an architecture, or nothing when none has that name; architectures.hpp says what
/// inputs and outputs they have. Constants are named as in the state_dict of torchvision or of Hugging Face's
/// transformers. Bad input for an unfit weights file.
std::optional<graph::Graph> build_architecture(std::string_view name, const LoadModelOptions& options);

/// Names of the architectures, in the order they are shown.
std::vector<std::string> architecture_names();

/// build_architecture() as an importer: bad input for an unfit weights file.
Model load_architecture(const std::string& name, const LoadModelOptions& options);

/// The image preprocessing of torchvision's classification presets; preprocess.hpp explains the keys.
Metadata preprocessing_metadata();

}  // namespace hone::importer
