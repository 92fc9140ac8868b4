// Decides whether an output of a program may be in the memory of an input: a cache that is changed in place.
#pragma once

#include <cstddef>
#include <string>

#include "engine/program/program.hpp"

namespace hone::engine {

/// Which step forbids it, as a sentence: one that reads the input when the output has been written, or while
/// it is written by a kernel that does not compute in place. Empty when none does.
std::string alias_fault(const Program& program, size_t output, size_t input);

}  // namespace hone::engine
