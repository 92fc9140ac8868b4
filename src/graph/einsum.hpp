// The equation of an Einsum, parsed for operands of known rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hone::graph {

/// Axes named by labels: letters by their code, the axes in "..." by negative numbers that count from the
/// last one (-1), so that they align as broadcasting does.
struct EinsumEquation {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

/// Parses "ij,jk->ik", "...ij->...ji", "ii" and the like. Bad input naming the equation when it is malformed
/// or does not fit the ranks. Without "->" the output has the ellipsis, then the labels that occur once, in
/// alphabetical order, as numpy.einsum defines it.
EinsumEquation parse_einsum(std::string_view equation, std::span<const int64_t> ranks);

}  // namespace hone::graph
