// Compares two tensors within a tolerance, and says where they differ.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.hpp"

namespace hone::tensor {

/// numpy's allclose: |actual - expected| <= absolute + relative * |expected|. NaN equals NaN.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// A sentence about the first and the worst difference, or nothing. Element type and shape must be the
/// same; integers and bools must be equal exactly.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected,
                                      const Tolerance& tolerance);

}  // namespace hone::tensor
