// The inputs of operators that only pick or repeat elements, as strided views for gather_strided().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/layers/movement.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct NodeViews {
  /// Why there are none; empty when there are.
  Refusal refusal;
  /// Views of input 0 as it lies in `layout`, one per output, which then lies so too.
  std::vector<StridedView> outputs;
  /// The layout in which the producer of input 0 leaves it, where the operator can read it so; else plain.
  engine::Layout layout = engine::Layout::kPlain;
};

/// That node_views() knows: DepthToSpace, Expand, Slice, SpaceToDepth, Split, Tile.
std::vector<std::string> node_view_operators();
NodeViews node_views(const engine::StepRequest& request);

/// The middle of a tensor as [outer][axis][inner].
struct MiddleAxes {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner = 1;
};

/// Around one axis, below the rank.
MiddleAxes around_axis(const engine::Shape& shape, size_t axis);

/// The extents before, in and after the axes (0 to rank - 1, any order), or nothing when others of more than
/// one element lie between them.
std::optional<MiddleAxes> middle_axes(const engine::Shape& shape, const std::vector<int64_t>& axes);

/// The same elements, in row-major order, with these axes (any order) after all others: with them, `axis` of
/// MiddleAxes is their product and `inner` is 1.
StridedView axes_last(const engine::Shape& shape, const std::vector<int64_t>& axes);

}  // namespace hone::device::cuda
