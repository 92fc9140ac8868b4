// Operators on sequences of words, a part of the signal family.
#pragma once

#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

void add_text_operators(std::vector<OperatorDef>& table);

}  // namespace hone::graph
