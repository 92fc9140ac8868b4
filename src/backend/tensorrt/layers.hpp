// Reads the layers of TensorRT's engine inspector as steps with the model's nodes that they compute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/layer_profile.hpp"
#include "base/json.hpp"
#include "graph/graph.hpp"

namespace hone::backend::tensorrt {

/// The model's nodes that a layer computes. They come from its metadata ("[ONNX Layer: conv1]" between
/// separators) or, if it has none, from its name, which is composed of theirs ("conv1 + relu1", "a || b",
/// "PWN(a, b)", or "{ForeignNode[a...b]}", which only names the first and the last). A layer that only
/// reformats has the nodes of the layer that it serves.
std::vector<std::string> nodes_of_layer(std::string_view name, std::string_view metadata);

/// One step for each layer in the JSON that versions 8.6 to 11 write. Bad input for other text. Layers of an
/// engine that was built without details have only names.
std::vector<StepInfo> layers_of(std::string_view engine_information);

/// The names of its layers, each with the model's nodes that belong to it.
std::vector<LayerTime> named_layers(std::string_view engine_information);

/// In the form of the tools around TensorRT: [{"count": n}, {"name", "timeMs", "averageMs", "medianMs",
/// "percentage"}…].
Json latency_json(const LayerProfile& profile);

}  // namespace hone::backend::tensorrt
