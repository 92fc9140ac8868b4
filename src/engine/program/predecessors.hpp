// Which steps of a program read what which others wrote: the edges of its graph, found from where
// operands are stored.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/program/program.hpp"

namespace hone::engine {

/// For each step, lists the earlier steps whose results it reads, ascending and each once. Values that do not
/// live at the same time may share bytes: whoever wrote them last is read. A step whose inputs are the
/// program's own, or constants, has none. All lists are empty where they would hold more than a million
/// together, which only a chain of concatenations can need.
std::vector<std::vector<int32_t>> find_predecessors(const std::vector<ProgramStep>& steps);

}  // namespace hone::engine
