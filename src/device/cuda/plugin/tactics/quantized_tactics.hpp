// Adds the tactics for regions of quantized numbers to this device's table.
#pragma once

#include "device/cuda/plugin/gpu.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// quantized_product regions with hone's own kernel.
void add_byte_product_tactics(engine::TacticList& list, Gpu& gpu);
/// quantized_sum regions with hone's own kernel.
void add_byte_sum_tactics(engine::TacticList& list, Gpu& gpu);

/// QuantizeLinear to bytes with one constant scale.
void add_byte_quantization_tactics(engine::TacticList& list);
/// Max pools of bytes, and quantized_pool regions.
void add_byte_pool_tactics(engine::TacticList& list);

}  // namespace hone::device::cuda
