// Tactics of LpNormalization and MeanVarianceNormalization.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

void add_vector_normalization_tactics(TacticList& list);

}  // namespace hone::device::cpu
