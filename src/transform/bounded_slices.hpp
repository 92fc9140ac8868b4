// Slices of constants whose length is the size of an input, where the engine serves sizes up to some largest
// one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "transform/pass.hpp"

namespace hone::transform {

/// Replaces Slice(table, 0, n), of a constant with n rows or more, with Gather(table, Range(0, n)): of length
/// n, whereas inference does not know how much of the table a Slice finds. `largest`: of symbols, where they
/// have a largest size. Without it, position embeddings of a variable length hide from all passes that
/// sequences are of one length.
Summary bounded_slices(Graph& graph, const std::map<std::string, int64_t>& largest);

}  // namespace hone::transform
