// Example shapes for error messages about models with open dimensions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::engine {

/// Returns "ids:1x128 image:1x3x224x224", which the user can adapt. It lists the inputs that must be named so
/// that every size is known: those with an open dimension whose symbol is neither in `sizes` nor in an
/// earlier listed input. Empty if only the batch is open.
std::string example_shapes(const graph::Graph& graph, const std::map<std::string, int64_t>& sizes);

/// Returns "seq=128 past=128", the same by the symbols of the open dimensions; empty if one of them has no
/// symbol.
std::string example_dims(const graph::Graph& graph, const std::map<std::string, int64_t>& sizes);

}  // namespace hone::engine
