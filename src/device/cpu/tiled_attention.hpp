// Attention of short sequences with loops of ours.
#pragma once

#include "engine/kernel.hpp"

namespace hone::device::cpu {

void add_tiled_attention_tactics(engine::TacticList& list);

}  // namespace hone::device::cpu
