// The order in which the nodes of a file are imported: producers before readers, subgraphs' reads included.
#pragma once

#include <vector>

#include "import/onnx/proto.hpp"

namespace hone::importer {

/// Indices of `nodes`, sorted (stable); bad input naming a node when there is a cycle.
std::vector<int> order_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

/// "node 'conv1' (Conv)"; an unnamed node goes by the name of its first output.
std::string node_text(const onnx::NodeProto& node);

}  // namespace hone::importer
