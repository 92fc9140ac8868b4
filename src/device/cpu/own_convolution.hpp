// Convolutions of channels-last images with loops of ours.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

/// Without groups, in tiles.
void add_tiled_convolution_tactics(TacticList& list);
/// In groups of a few channels.
void add_grouped_convolution_tactics(TacticList& list);

}  // namespace hone::device::cpu
