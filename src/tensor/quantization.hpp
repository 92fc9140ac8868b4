// How integers stand for real numbers: value = scale * (integer - zero point).
#pragma once

#include <cstdint>
#include <vector>

namespace hone::tensor {

struct Quantization {
  /// One, or one for each index of the axis.
  std::vector<float> scales;
  /// As many as there are scales.
  std::vector<int32_t> zero_points;
  /// Dimension of the tensor; -1: one scale for all of it.
  int axis = -1;

  friend bool operator==(const Quantization&, const Quantization&) = default;
};

}  // namespace hone::tensor
