// The form of a model in which it is calibrated and quantized: it contains only ONNX operators, batch
// normalization is folded into weights, and nothing is fused.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace hone::quantize {

/// Values that remain keep the model's names.
graph::Graph float_graph(const graph::Graph& model);

/// A hexadecimal number that identifies a model by its operators, attributes, names and constants.
std::string fingerprint_of(const graph::Graph& graph);

/// Describes the first QuantizeLinear, DequantizeLinear or integer product in the model; empty if there is
/// none.
std::string quantized_part(const graph::Graph& graph);

}  // namespace hone::quantize
