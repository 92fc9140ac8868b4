// The common part of RNN, GRU and LSTM: directions and activation functions, read from their attributes.
// Shared by shape rules, kernels and devices.
//
// Source: ONNX operator specifications of RNN, GRU and LSTM (opset 22).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/attribute.hpp"

namespace hone::graph {

enum class RecurrentFunction {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};

struct RecurrentActivation {
  RecurrentFunction function = RecurrentFunction::kTanh;
  float alpha = 0;
  float beta = 0;
};

/// For each direction, true if it runs backward: one entry, or two (forward, then backward). Bad input for an
/// unknown value of the attribute `direction`.
std::vector<bool> read_reversed(const Attributes& attributes);

/// One activation per entry of `defaults` and direction: attribute `activations`, or the defaults if it
/// is absent. Functions that have an alpha or beta take the next entry of activation_alpha or
/// activation_beta, or their default if no entry is left. Bad input for a wrong count or name.
std::vector<RecurrentActivation> read_activations(const Attributes& attributes,
                                                  const std::vector<std::string_view>& defaults,
                                                  size_t directions);

}  // namespace hone::graph
