// Compares two tensors with a tolerance and describes their differences.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.hpp"

namespace hone::tensor {

/// Like numpy's allclose: |actual - expected| <= absolute + relative * |expected|. NaN equals NaN.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// Returns a sentence about the first and the largest difference, or nothing. Element types and shapes must
/// be equal; integers and bools must be exactly equal.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected,
                                      const Tolerance& tolerance);

}  // namespace hone::tensor
