// Converts a row of class scores to probabilities, and finds its most probable classes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hone::task {

/// Applies softmax, unless the row already is a probability distribution.
std::vector<double> probabilities(std::span<const double> row);

/// Returns the indices of the `count` highest scores, highest first; of equal scores, the lower index comes
/// first.
std::vector<size_t> likeliest(std::span<const double> row, size_t count);

/// Formats as "3.1416"; scores below 0.001 keep three digits: "1.92e-07".
std::string score_text(double score);

}  // namespace hone::task
