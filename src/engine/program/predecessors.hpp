// Finds the edges between the steps of a program from the addresses of their operands.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/program/program.hpp"

namespace hone::engine {

/// Returns for each step the earlier steps whose results it reads, ascending and without repetition. Values
/// with disjoint lifetimes may share memory, so the last step that wrote it counts. A step that reads only
/// inputs of the program and constants has none. All lists are empty if they would have more than a million
/// entries in total, which only a chain of concatenations can cause.
std::vector<std::vector<int32_t>> find_predecessors(const std::vector<ProgramStep>& steps);

}  // namespace hone::engine
