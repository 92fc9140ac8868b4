// Built-in architectures as graphs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "import/load.hpp"

namespace hone::importer {

/// The verified graph of an architecture, or nothing when none has that name. Input "input" is float32
/// [batch, 3, 224, 224], output "output" is float32 [batch, 1000]; constants are named as in torchvision's
/// state_dict. Bad input for an unfit weights file.
std::optional<graph::Graph> build_architecture(std::string_view name, const LoadModelOptions& options);

/// Names of the architectures, in the order they are shown.
std::vector<std::string> architecture_names();

/// build_architecture() as an importer: bad input for an unfit weights file.
Model load_architecture(const std::string& name, const LoadModelOptions& options);

/// What torchvision's classification presets do to an image; preprocess.hpp explains the keys.
Metadata preprocessing_metadata();

}  // namespace hone::importer
