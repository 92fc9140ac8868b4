// Regions of rotary positions.
#pragma once

#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// Takes regions rotary.
engine::Tactic rotary_tactic();

}  // namespace hone::device::cuda
