// The rows of this device's table for regions of quantized numbers.
#pragma once

#include "device/cuda/plugin/gpu.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// Regions quantized_product by a kernel of ours.
void add_byte_product_tactics(engine::TacticList& list, Gpu& gpu);
/// Regions quantized_sum by a kernel of ours.
void add_byte_sum_tactics(engine::TacticList& list, Gpu& gpu);

/// QuantizeLinear to bytes of one constant scale.
void add_byte_quantization_tactics(engine::TacticList& list);
/// Max pools of bytes, and regions quantized_pool.
void add_byte_pool_tactics(engine::TacticList& list);

}  // namespace hone::device::cuda
