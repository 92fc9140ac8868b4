// Built-in architectures as graphs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "import/load.hpp"

namespace hone::importer {

/// The verified graph of an architecture, or nullopt for an unknown name; architectures.hpp describes the
/// inputs and outputs. Constants are named as in the state_dict of torchvision or of Hugging Face's
/// transformers. Throws bad input if the weights file does not fit.
std::optional<graph::Graph> build_architecture(std::string_view name, const LoadModelOptions& options);

/// Names of the architectures, in the order they are shown.
std::vector<std::string> architecture_names();

/// build_architecture() for the list of importers; bad input if the weights file does not fit.
Model load_architecture(const std::string& name, const LoadModelOptions& options);

/// The image preprocessing of torchvision's classification presets; preprocess.hpp explains the keys.
Metadata preprocessing_metadata();

}  // namespace hone::importer
