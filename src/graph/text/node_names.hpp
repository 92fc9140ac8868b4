// Defaults of a node's name and sources; the text of a graph omits names and sources equal to them.
#pragma once

#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace hone::graph {

/// Default sources of a node: only its own name.
inline std::vector<std::string> default_sources(const std::string& name) { return {name}; }

/// Default name of a node: a fused node is named after its sources, as passes do it, and any other node after
/// its first result.
inline std::string default_node_name(const std::vector<std::string>& sources, const std::string& result) {
  return sources.size() > 1 ? fmt::format("{}", fmt::join(sources, " + ")) : result;
}

}  // namespace hone::graph
