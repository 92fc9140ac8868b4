// Tactics of RoiAlign by averages.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

void add_roi_align_tactics(TacticList& list);

}  // namespace hone::device::cpu
