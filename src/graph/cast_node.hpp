// The node that converts a value to another type.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace hone::graph {

/// A Cast from one value to another, which has this type. Numbers beyond the range of a float8 type saturate,
/// which is the default of ONNX.
Node cast_node(std::string name, ValueId from, ValueId to, DType dtype);

}  // namespace hone::graph
