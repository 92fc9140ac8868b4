// The sliding window of convolutions and pools: kernel, strides, dilations and pads for each spatial axis.
#pragma once

#include <string_view>
#include <vector>

#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  /// Explicit pads; auto_pad has been resolved for the input's shape.
  std::vector<int64_t> begin;
  std::vector<int64_t> end;

  size_t rank() const { return kernel.size(); }
  /// PyTorch takes one pad for each axis; uneven ones need a separate padding call.
  bool even() const { return begin == end; }
  int64_t reach(size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
};

/// The window of a node whose input 0 is [N, C, spatial...].
Window window_of(const Lowering& lowering, std::vector<int64_t> kernel);
/// Spatial dimensions of a value [N, C, spatial...]; refuses if they depend on data.
std::vector<int64_t> spatial_dims(const Lowering& lowering, graph::ValueId id);
/// Combines begin and end in the form of at::constant_pad_nd: last axis first.
std::vector<int64_t> pad_list(const std::vector<int64_t>& begin, const std::vector<int64_t>& end);

}  // namespace hone::backend::aten
