// The node that brings a value into another type.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace hone::graph {

/// A Cast from one value to another, which has this type; numbers beyond the range of a float8 type saturate,
/// as ONNX has it by default.
Node cast_node(std::string name, ValueId from, ValueId to, DType dtype);

}  // namespace hone::graph
