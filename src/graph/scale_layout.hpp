// Assignment of scales to the elements of a quantized tensor: one for the whole tensor, one per index
// of an axis, or one per block along an axis. Shared by shape rules, kernels and devices.
//
// Source: ONNX operator specification of QuantizeLinear (opset 21).
#pragma once

#include <cstdint>
#include <span>

#include "graph/attribute.hpp"

namespace hone::graph {

class ScaleLayout {
 public:
  /// Reads `axis` and `block_size`. Throws bad input that names the field if the scale's shape does not fit.
  ScaleLayout(const Attributes& attributes, std::span<const int64_t> data, std::span<const int64_t> scale);

  /// Index of the scale (and zero point) of an element, by its row-major index.
  int64_t index(int64_t element) const {
    const int64_t position = element / inner_ % length_;
    if (!blocked_) return position;
    return (element / inner_ / length_ * blocks_ + position / block_size_) * inner_ + element % inner_;
  }
  bool per_tensor() const { return length_ == 1 && !blocked_; }

 private:
  // One scale for the tensor is an axis of length 1, so that every element has position 0.
  int64_t length_ = 1;
  int64_t inner_ = 1;
  bool blocked_ = false;
  int64_t block_size_ = 1;
  int64_t blocks_ = 1;
};

}  // namespace hone::graph
