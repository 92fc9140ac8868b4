// Tactics of MaxPool and AveragePool on plain images.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

void add_row_pooling_tactics(TacticList& list);

}  // namespace hone::device::cpu
