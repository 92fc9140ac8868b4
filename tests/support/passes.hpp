// Runs one pass alone over a graph and checks what holds for every pass.
#pragma once

#include <algorithm>

#include "support/equivalence.hpp"
#include "transform/pass.hpp"

namespace hone::test {

struct Transformed {
  Graph graph;
  transform::Summary summary;
};

/// Applies the named passes, asked for where they have to be, and no others; returns the graph and the last
/// one's summary.
inline Transformed apply_passes(const Graph& original, const std::vector<std::string>& names) {
  transform::PassOptions options;
  for (const transform::Pass& pass : transform::passes()) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) {
      options.disabled.emplace_back(pass.name);
    } else if (pass.on_request) {
      options.requested.emplace_back(pass.name);
    }
  }
  Transformed result{original, {}};
  for (transform::Summary& summary : transform::optimize(result.graph, options)) {
    if (summary.name == names.back()) result.summary = std::move(summary);
  }
  return result;
}

/// Applies one pass, and checks that the outputs stay the same and that a second run changes nothing.
inline Transformed check_pass(const Graph& original, const std::string& name) {
  Transformed result = apply_passes(original, {name});
  expect_equivalent(original, result.graph);
  const Transformed again = apply_passes(result.graph, {name});
  EXPECT_EQ(again.summary.changes, 0)
      << "a second run of " << name
      << " changes: " << (again.summary.notes.empty() ? "" : again.summary.notes[0]);
  EXPECT_EQ(structure(again.graph), structure(result.graph));
  return result;
}

/// Applies one pass behind convolution_fusion, and checks that the outputs stay the same and that nothing is
/// left to do.
inline Transformed check_behind_convolution_fusion(const Graph& original, const std::string& name) {
  const std::vector<std::string> both = {"convolution_fusion", name};
  Transformed result = apply_passes(original, both);
  EXPECT_EQ(result.summary.name, name);
  expect_equivalent(original, result.graph);
  EXPECT_EQ(apply_passes(result.graph, both).summary.changes, 0);
  return result;
}

/// Whether a refusal has this text in it.
inline bool refuses(const Transformed& result, const std::string& text) {
  return std::any_of(result.summary.refusals.begin(), result.summary.refusals.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace hone::test
