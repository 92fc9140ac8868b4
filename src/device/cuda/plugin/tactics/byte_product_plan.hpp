// quantized_product regions in the form that the byte GEMM takes, by themselves or as parts of other regions.
#pragma once

#include <memory>

#include "device/cuda/plugin/tactics/byte_chain.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// The position of weight (filter, tap, channel) in the constant.
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

/// Returns an empty refusal if the plan is filled in.
Refusal read_byte_product(const engine::StepRequest& request, ByteProductPlan& plan);

/// Sets the arrangement of the step's inputs and its result.
void arrange_byte_product(const engine::StepRequest& request, const ByteProductPlan& plan,
                          engine::Offer& offer);

/// The packed constants of a product.
struct PackedByteProduct {
  /// All arguments except x, the operand and y. They point to the device copies below.
  ByteArgs args;
  std::shared_ptr<const DeviceBytes> weights;
  std::shared_ptr<const DeviceBytes> scales;
  engine::WeightKey key;  ///< key of the weights
};

PackedByteProduct pack_byte_product(Gpu& gpu, const engine::StepRequest& request, const ByteProductPlan& plan,
                                    engine::WeightStore& weights);

}  // namespace hone::device::cuda
