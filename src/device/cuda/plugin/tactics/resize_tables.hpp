// A Resize of an image as tables for resize().
#pragma once

#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// One spatial axis: int32 positions and float weights, [output][taps]; -1 represents the extrapolation
/// value. An axis that is not resized has no tables.
struct ResizeTable {
  int64_t input = 1;
  int64_t output = 1;
  int taps = 1;
  tensor::Tensor positions;
  tensor::Tensor weights;
  bool stays() const { return positions.size() == 0; }
};

struct ResizeTables {
  /// The reason why there are no tables; empty if there are.
  Refusal refusal;
  std::vector<ResizeTable> axes;
  float extrapolation = 0;
};

/// Tables for images with one to three spatial axes; batch and channels must not change.
ResizeTables resize_tables(const engine::StepRequest& request);

}  // namespace hone::device::cuda
