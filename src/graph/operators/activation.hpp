// The activations, a part of the elementwise family.
#pragma once

#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

void add_activation_operators(std::vector<OperatorDef>& table);

}  // namespace hone::graph
