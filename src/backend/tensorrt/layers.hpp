// Reads the layers of TensorRT's engine inspector as steps that know which of the model's nodes they compute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/layer_profile.hpp"
#include "base/json.hpp"
#include "graph/graph.hpp"

namespace hone::backend::tensorrt {

/// The model's nodes that a layer computes: as its metadata list them ("[ONNX Layer: conv1]" between
/// separators) or, where it has none, as its name is made of theirs ("conv1 + relu1", "a || b", "PWN(a, b)",
/// "{ForeignNode[a...b]}", of which the first and the last are told); of a layer that only reformats, those
/// that it does it for.
std::vector<std::string> nodes_of_layer(std::string_view name, std::string_view metadata);

/// One step a layer, of the JSON that versions 8.6 to 11 write. Bad input where it is no such JSON. Layers of
/// an engine that was built without details are names only.
std::vector<StepInfo> layers_of(std::string_view engine_information);

/// The names that its layers have, each with the model's nodes that belong to it.
std::vector<LayerTime> named_layers(std::string_view engine_information);

/// As the tools around TensorRT write it: [{"count": n}, {"name", "timeMs", "averageMs", "medianMs",
/// "percentage"}…].
Json latency_json(const LayerProfile& profile);

}  // namespace hone::backend::tensorrt
