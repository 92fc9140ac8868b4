// Handles slices of constants whose length is the size of an input, if the engine has a limit for that size.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "transform/pass.hpp"

namespace hone::transform {

/// Replaces Slice(table, 0, n), where the constant has at least n rows, with Gather(table, Range(0, n)). Its
/// length is n, whereas shape inference cannot know how many rows a Slice finds. `largest` holds the largest
/// sizes of symbols. Without this pass, position embeddings of variable length would prevent all other passes
/// from seeing that sequences have equal lengths.
Summary bounded_slices(Graph& graph, const std::map<std::string, int64_t>& largest);

}  // namespace hone::transform
