// x86 CPUs through oneDNN and loops of ours.
#pragma once

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// The one CPU device of the process.
const engine::Device& cpu_device();

/// Why an engine with this fingerprint, of a CPU, does not run on this one. A portable engine runs where its
/// level of instructions is: kernels are made anew, and weights that they want in another form are packed
/// again.
Refusal refuse_engine(std::string_view built_for);

}  // namespace hone::device::cpu
