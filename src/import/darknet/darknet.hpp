// darknet's cfg and weights files as models (docs/DARKNET.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/load.hpp"

namespace hone::importer {

/// The network of a cfg file, with the weights of options.weights, else of the file next to it, else of the
/// seed. Bad input naming line, section and layer.
Model load_darknet(const std::string& file, const LoadModelOptions& options);

/// The networks that hone brings along: "yolov4_tiny".
std::vector<std::string> darknet_names();
/// One of them, with weights of the file that the options name, else of the seed.
Model load_built_in_darknet(const std::string& name, const LoadModelOptions& options);

/// A model from memory, without names of classes. Without weights they come from the seed.
Model import_darknet(const std::string& name, std::string_view cfg, std::span<const std::byte> weights,
                     const LoadModelOptions& options);

}  // namespace hone::importer
