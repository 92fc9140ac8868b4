// Shapes that a sentence proposes where a model leaves dimensions open.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::engine {

/// "ids:1x128 image:1x3x224x224", for the user to adapt: the inputs that have to be named so that every size
/// is known, which are those whose open dimensions have neither one of the `sizes`, by symbol, nor the symbol
/// of another input in the list. Empty when nothing is open but the batch.
std::string example_shapes(const graph::Graph& graph, const std::map<std::string, int64_t>& sizes);

/// "seq=128 past=128": the same by the symbols of the open dimensions; empty where one of them has none.
std::string example_dims(const graph::Graph& graph, const std::map<std::string, int64_t>& sizes);

}  // namespace hone::engine
