// Compares two groups of layers that compute the same nodes: why one of them may be faster.
#pragma once

#include <string>
#include <vector>

#include "analysis/questions/layers.hpp"

namespace hone::analysis {

/// Sentences without a full stop, those that explain most first: precisions, layers that only reformat, how
/// many layers there are, kernels. Empty where both sides say the same.
std::vector<std::string> layer_reasons(const std::vector<const Layer*>& a,
                                       const std::vector<const Layer*>& b);

}  // namespace hone::analysis
