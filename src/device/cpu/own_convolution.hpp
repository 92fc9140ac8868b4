// Convolutions of images with loops of ours.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

/// Of channels-last images without groups, in tiles.
void add_tiled_convolution_tactics(TacticList& list);
/// Of channels-last images in groups of a few channels.
void add_grouped_convolution_tactics(TacticList& list);
/// With a filter of its own for each channel.
void add_depthwise_convolution_tactics(TacticList& list);

}  // namespace hone::device::cpu
