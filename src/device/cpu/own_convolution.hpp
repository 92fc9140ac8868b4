// Convolutions of images with loops of ours.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

/// Adds those without groups, in tiles, for channels-last images.
void add_tiled_convolution_tactics(TacticList& list);
/// Adds those in groups of a few channels, for channels-last images.
void add_grouped_convolution_tactics(TacticList& list);
/// Adds those with a filter for each channel.
void add_depthwise_convolution_tactics(TacticList& list);

}  // namespace hone::device::cpu
