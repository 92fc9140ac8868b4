// The equation of an Einsum, parsed for operands of known rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hone::graph {

/// Axes are named by labels: letters have their codes, and the axes in "..." have negative numbers, counted
/// from the last axis (-1), so that they align as in broadcasting.
struct EinsumEquation {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

/// Parses "ij,jk->ik", "...ij->...ji", "ii" and the like. Throws bad input that names the equation if it is
/// malformed or does not fit the ranks. Without "->" the output has the ellipsis, then the labels that occur
/// once, in alphabetical order, as in numpy.einsum.
EinsumEquation parse_einsum(std::string_view equation, std::span<const int64_t> ranks);

}  // namespace hone::graph
