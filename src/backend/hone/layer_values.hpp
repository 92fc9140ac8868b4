// The values between the layers of an engine or a model, and the error of each layer against a reference that
// reads the same inputs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/engine.hpp"
#include "graph/graph.hpp"
#include "tensor/place.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend {

/// float32 tensors, keyed by the names of values in the model.
using LayerValues = std::map<std::string, tensor::Tensor>;

/// Computes the values between the steps of an engine. Steps stay fused: the values become outputs of a copy
/// with the same plans. Quantized integers are dequantized and get the name of the original value if it is
/// known from `quantized` (each result of QuantizeLinear to its input) or from hone's own names. Usage error
/// for an engine with its own caches, bad input for inputs that do not fit.
LayerValues engine_values(const engine::Engine& engine, std::optional<tensor::Place> place, int threads,
                          std::span<const tensor::Tensor> inputs,
                          const std::map<std::string, std::string>& quantized);

/// Computes a model's values with the reference.
LayerValues reference_values(const graph::Graph& graph, std::span<const tensor::Tensor> inputs);

/// For each of the values that exist in the model, |value - r| / |r|, where the reference computes r from the
/// nearest preceding `values`. It is the error that this layer, or the fused region that it ends, adds by
/// itself.
std::map<std::string, double> own_errors(const graph::Graph& reference,
                                         std::span<const tensor::Tensor> inputs, const LayerValues& values);

/// True if steps of the engine compute with quantized 8-bit integers.
bool has_integers(const engine::Engine& engine);

/// Names of QuantizeLinear results in a model, with the name of each one's input.
std::map<std::string, std::string> quantized_names(const graph::Graph& graph);

}  // namespace hone::backend
