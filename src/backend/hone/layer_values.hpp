// The values between the layers of an engine or a model, and how far each layer is from a reference that
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

/// float32, by the names that values have in the model.
using LayerValues = std::map<std::string, tensor::Tensor>;

/// Computes the values between the steps of an engine, which stay fused: the values become outputs of a copy
/// with the same plans. Integers that stand for numbers are dequantized, and named after the quantized value
/// where `quantized` (result of QuantizeLinear: what it reads) or hone's own names say so. Usage error for an
/// engine with caches of its own, bad input for inputs that do not fit.
LayerValues engine_values(const engine::Engine& engine, std::optional<tensor::Place> place, int threads,
                          std::span<const tensor::Tensor> inputs,
                          const std::map<std::string, std::string>& quantized);

/// Computes a model's values with the reference.
LayerValues reference_values(const graph::Graph& graph, std::span<const tensor::Tensor> inputs);

/// For each of the values that the model has, |value - r| / |r|, where r is what the reference computes from
/// the nearest of `values` before it: the error that this layer, or the fused region that it ends, adds by
/// itself.
std::map<std::string, double> own_errors(const graph::Graph& reference,
                                         std::span<const tensor::Tensor> inputs, const LayerValues& values);

/// True if steps of the engine compute with integers of 8 bits that stand for numbers.
bool has_integers(const engine::Engine& engine);

/// Results of QuantizeLinear in a model and what each reads, by name.
std::map<std::string, std::string> quantized_names(const graph::Graph& graph);

}  // namespace hone::backend
