// Tactics for regions of quantized numbers (graph/quantized_chain.hpp), rows of the CPU's table.
#pragma once

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// Convolutions and matrix products of bytes through oneDNN.
void add_quantized_product_tactics(engine::TacticList& list);
/// Elementwise operations between bytes.
void add_quantized_map_tactics(engine::TacticList& list);
/// Average pools of regions, and max pools of bytes.
void add_quantized_pool_tactics(engine::TacticList& list);

}  // namespace hone::device::cpu
