// Transpositions that move no data, because they only rename the dimensions of the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/tensor_desc.hpp"

namespace hone::engine {

/// The order of a Transpose node's dimensions: its attribute, or all of them reversed if it has none.
std::vector<int64_t> transposition_of(const std::vector<int64_t>& perm, size_t rank);

struct Arrangements {
  Layout input = Layout::kPlain;
  Layout result = Layout::kPlain;
};

/// Layouts, each plain or channels-last, with which a tensor of this shape and its transposition have the
/// same bytes; nullopt if there are none. If there are several, the one with an input in the layout `wanted`.
std::optional<Arrangements> same_bytes_transposed(const Shape& shape, const std::vector<int64_t>& order,
                                                  Layout wanted);

}  // namespace hone::engine
