// The order in which the nodes of a file are imported: producers before readers, including readers in
// subgraphs.
#pragma once

#include <vector>

#include "import/onnx/proto.hpp"

namespace hone::importer {

/// Indices of `nodes`, sorted (stable). Throws bad input that names a node if there is a cycle.
std::vector<int> order_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

/// "node 'conv1' (Conv)"; for an unnamed node, the name of its first output is used.
std::string node_text(const onnx::NodeProto& node);

}  // namespace hone::importer
