// A row of class scores: as probabilities, and its likeliest classes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hone::task {

/// Softmax, unless the row is a distribution already.
std::vector<double> probabilities(std::span<const double> row);

/// Indices of the `count` highest scores, falling; of equal ones the lower index comes first.
std::vector<size_t> likeliest(std::span<const double> row, size_t count);

/// "3.1416"; scores below a thousandth keep three digits: "1.92e-07".
std::string score_text(double score);

}  // namespace hone::task
