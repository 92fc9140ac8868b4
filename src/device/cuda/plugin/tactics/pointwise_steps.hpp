// Converts nodes to chains of elementwise operations.
#pragma once

#include <optional>
#include <string>

#include "device/cuda/plugin/kernels/pointwise/pointwise_program.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Returns nullopt for a type with which chains cannot compute.
std::optional<Storage> pointwise_storage(tensor::DType dtype);

/// Fills in the steps of the node's program; otherwise returns the reason why it has none.
Refusal read_pointwise_steps(const engine::StepRequest& request, PointwiseProgram& program);

/// The shape with which a node's input is broadcast to the output: its own shape, except for scales and zero
/// points, which have one value, or one for each index of an axis.
engine::Shape broadcast_shape(const engine::StepRequest& request, size_t input);

}  // namespace hone::device::cuda
