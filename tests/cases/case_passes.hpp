// The passes of a case.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cases/case_file.hpp"
#include "transform/pass.hpp"

namespace hone::test {

/// Applies those that the case names, or all but those on request; their summaries.
inline std::vector<transform::Summary> apply_passes(const Case& test, graph::Graph& graph) {
  const std::vector<std::string> names = test.passes();
  transform::PassOptions options;
  for (const transform::Pass& pass : transform::passes()) {
    const bool named = std::find(names.begin(), names.end(), pass.name) != names.end();
    if (!named && !names.empty()) options.disabled.emplace_back(pass.name);
    if (named && pass.on_request) options.requested.emplace_back(pass.name);
  }
  return transform::optimize(graph, options);
}

}  // namespace hone::test
