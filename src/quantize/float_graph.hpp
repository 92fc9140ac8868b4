// The form of a model in which it is calibrated and quantized: operators of ONNX only, with batch
// normalisation folded into weights, before any fusion.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace hone::quantize {

/// Values that remain keep the model's names.
graph::Graph float_graph(const graph::Graph& model);

/// A hexadecimal number that identifies a model: of operators, attributes, names and all constants.
std::string fingerprint_of(const graph::Graph& graph);

/// The first QuantizeLinear, DequantizeLinear or product of integers in the model, in words; empty if there
/// is none.
std::string quantized_part(const graph::Graph& graph);

}  // namespace hone::quantize
