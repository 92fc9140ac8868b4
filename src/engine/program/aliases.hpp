// Decides whether an output of a program may use the memory of an input, as a cache that is updated in place
// does.
#pragma once

#include <cstddef>
#include <string>

#include "engine/program/program.hpp"

namespace hone::engine {

/// Names the step that forbids it, in a sentence: a step that reads the input after the output was written,
/// or that reads the input and writes the output with a kernel that cannot compute in place. Empty if there
/// is no such step.
std::string alias_fault(const Program& program, size_t output, size_t input);

}  // namespace hone::engine
