// Tactics of ConstantOfShape, Range, OneHot and Trilu, which create tensors from a few numbers.
#pragma once

#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {

void add_generation_tactics(TacticList& list);

}  // namespace hone::device::cpu
