// Helpers of the tactics for products of rows with a constant matrix.
#pragma once

#include <vector>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// Requirements of every tactic for Gemm, MatMul and their fused forms.
const std::vector<engine::Requirement>& product_requirements();
/// Why a step is no product of rows with a constant matrix, perhaps with a bias a column.
Refusal refuse_operands(const engine::StepRequest& request);
/// True if a Gemm has its constant matrix as (columns, depth).
bool is_transposed(const graph::Node& node);

}  // namespace hone::device::cpu
