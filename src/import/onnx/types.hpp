// Declared types and names of ONNX files.
#pragma once

#include <string>

#include "graph/graph.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

/// Bad input for anything but a tensor (sequences, optionals, maps, sparse tensors), for element types
/// that tensors cannot have, and for dimensions out of range. An absent type is an unknown one.
graph::TensorType read_type(const onnx::TypeProto& type);

/// The same name; bad input when it is longer than kMaxNameBytes.
const std::string& checked_name(const std::string& name, const char* what);

}  // namespace hone::importer
