// Compares two groups of layers that compute the same nodes, to explain why one of them may be faster.
#pragma once

#include <string>
#include <vector>

#include "analysis/questions/layers.hpp"

namespace hone::analysis {

/// Clauses about differences, most important first: precisions, layers that only reformat, numbers of layers,
/// kernels. Empty if both sides agree.
std::vector<std::string> layer_reasons(const std::vector<const Layer*>& a,
                                       const std::vector<const Layer*>& b);

}  // namespace hone::analysis
