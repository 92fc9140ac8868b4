// Which elements of their data GatherElements, GatherND and their counterparts name.
#pragma once

#include <string>
#include <variant>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/layers/indexing.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct NodePicks {
  /// Why there are none; empty when there are.
  Refusal refusal;
  std::variant<ElementPicks, SlicePicks> picks;
};

/// Picks of data that lies in row-major order.
NodePicks node_picks(const engine::StepRequest& request);

}  // namespace hone::device::cuda
