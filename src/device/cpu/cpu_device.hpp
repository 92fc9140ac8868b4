// x86 CPUs through oneDNN and loops of ours.
#pragma once

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// The one CPU device of the process.
const engine::Device& cpu_device();

}  // namespace hone::device::cpu
