// Declared types and names of ONNX files.
#pragma once

#include <string>

#include "graph/graph.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

/// Throws bad input for anything but a tensor (sequences, optionals, maps, sparse tensors), for element types
/// that hone's tensors do not support, and for dimensions out of range. An absent type is unknown.
graph::TensorType read_type(const onnx::TypeProto& type);

/// Returns the name; bad input if it is longer than kMaxNameBytes.
const std::string& checked_name(const std::string& name, const char* what);

}  // namespace hone::importer
