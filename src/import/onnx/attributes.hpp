// Reads attributes of file nodes, except graphs, and the values of Constant nodes.
#pragma once

#include <optional>

#include "graph/attribute.hpp"
#include "import/onnx/external_data.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

/// Throws bad input for kinds that no supported operator has (types, sparse tensors, lists of tensors or
/// graphs).
graph::Attribute read_attribute(const onnx::AttributeProto& proto, ExternalFolder& folder);

/// The tensor that a value attribute of a Constant node describes (value, sparse_value, value_int,
/// value_ints, value_float, value_floats); bad input for strings and other names.
tensor::Tensor read_constant(const onnx::AttributeProto& proto, ExternalFolder& folder);

}  // namespace hone::importer
