// The inputs of operators that only select or repeat elements, as strided views for gather_strided().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/layers/movement.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct NodeViews {
  /// The reason why there are no views; empty if there are.
  Refusal refusal;
  /// Views of input 0 in `layout`, one for each output, which gets the same layout.
  std::vector<StridedView> outputs;
  /// The layout in which input 0 is produced, if the operator can read that; otherwise plain.
  engine::Layout layout = engine::Layout::kPlain;
};

/// The operators that node_views() supports: DepthToSpace, Expand, Slice, SpaceToDepth, Split, Tile.
std::vector<std::string> node_view_operators();
NodeViews node_views(const engine::StepRequest& request);

/// The shape of a tensor as [outer][axis][inner].
struct MiddleAxes {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner = 1;
};

/// For one axis, which must be less than the rank.
MiddleAxes around_axis(const engine::Shape& shape, size_t axis);

/// The extents before, in and after the axes (0 to rank - 1, in any order); nullopt if other axes with more
/// than one element are between them.
std::optional<MiddleAxes> middle_axes(const engine::Shape& shape, const std::vector<int64_t>& axes);

/// A view of the same elements in which these axes (in any order) come after all others. In the view's
/// MiddleAxes, `axis` is the product of their sizes, and `inner` is 1.
StridedView axes_last(const engine::Shape& shape, const std::vector<int64_t>& axes);

}  // namespace hone::device::cuda
