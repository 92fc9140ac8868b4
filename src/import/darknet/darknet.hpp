// Loads cfg and weights files of darknet as models (docs/DARKNET.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/load.hpp"

namespace hone::importer {

/// The network of a cfg file, with the weights of options.weights, else of the file next to the cfg, else
/// from the seed. Throws bad input that names line, section and layer.
Model load_darknet(const std::string& file, const LoadModelOptions& options);

/// The names of the built-in networks: "yolov4_tiny".
std::vector<std::string> darknet_names();
/// A built-in network, with weights from the file in the options, else from the seed.
Model load_built_in_darknet(const std::string& name, const LoadModelOptions& options);

/// A model from memory, without names of classes. If no weights are given, they come from the seed.
Model import_darknet(const std::string& name, std::string_view cfg, std::span<const std::byte> weights,
                     const LoadModelOptions& options);

}  // namespace hone::importer
