// The elements that GatherElements, GatherND and the corresponding Scatter operators select.
#pragma once

#include <string>
#include <variant>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/layers/indexing.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct NodePicks {
  /// The reason why the kernel cannot select; empty if it can.
  Refusal refusal;
  std::variant<ElementPicks, SlicePicks> picks;
};

/// The picks for data in row-major order.
NodePicks node_picks(const engine::StepRequest& request);

}  // namespace hone::device::cuda
