// Defaults of a node's name and sources, which the text of a graph leaves out.
#pragma once

#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace hone::graph {

/// Sources of a node whose text names none: the node of the model that it is itself.
inline std::vector<std::string> default_sources(const std::string& name) { return {name}; }

/// Name of a node whose text has none: that of a fused node names its sources, as passes do; any other node
/// is called like its first result.
inline std::string default_node_name(const std::vector<std::string>& sources, const std::string& result) {
  return sources.size() > 1 ? fmt::format("{}", fmt::join(sources, " + ")) : result;
}

}  // namespace hone::graph
