// Regions quantized_product as the GEMM of bytes takes them, by themselves or as parts of others.
#pragma once

#include <memory>

#include "device/cuda/plugin/tactics/byte_chain.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Where the constant has weight (filter, tap, channel).
struct WeightStrides {
  int64_t filter = 0;
  int64_t tap = 0;
  int64_t channel = 0;
};

struct ByteProductPlan {
  graph::QuantizedChain chain;
  ByteProblem problem;
  ByteStages stages;
  ByteScale x;
  WeightStrides weights;
  engine::TensorDesc source;
  engine::TensorDesc result;
};

/// Empty when the plan is filled in.
Refusal read_byte_product(const engine::StepRequest& request, ByteProductPlan& plan);

/// How the step's inputs and its result lie.
void arrange_byte_product(const engine::StepRequest& request, const ByteProductPlan& plan,
                          engine::Offer& offer);

/// The constants of a product, packed.
struct PackedByteProduct {
  /// All but x, the operand and y. Points into the device's copies below.
  ByteArgs args;
  std::shared_ptr<const DeviceBytes> weights;
  std::shared_ptr<const DeviceBytes> scales;
  engine::WeightKey key;  ///< of the weights
};

PackedByteProduct pack_byte_product(Gpu& gpu, const engine::StepRequest& request, const ByteProductPlan& plan,
                                    engine::WeightStore& weights);

}  // namespace hone::device::cuda
