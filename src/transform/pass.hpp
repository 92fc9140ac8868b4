// A pass: a named rewrite of a graph that keeps its meaning. Other code uses only this header: it runs the
// list on a graph, and reads what each pass did and refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/refusal.hpp"
#include "graph/graph.hpp"

namespace hone::transform {

using graph::Graph;

/// The effect of one pass on a graph.
struct Summary {
  std::string name;
  /// The time that it took; unknown for an engine from a file.
  std::optional<double> milliseconds;
  int changes = 0;
  /// One line for each change, limited to the first kMaxLines.
  std::vector<std::string> notes;
  /// Patterns that nearly matched, and why they were kept: "'conv1' + 'bn1' not folded: 'conv1' has 2
  /// readers".
  std::vector<std::string> refusals;

  static constexpr size_t kMaxLines = 256;
  /// Counts a change.
  void change(std::string note);
  void refuse(std::string reason);
};

struct Pass {
  std::string_view name;
  std::string_view description;
  /// Rewrites the graph and returns changes, notes and refusals; the caller fills in name and time.
  Summary (*apply)(Graph& graph);
  /// True for simplifying passes: they enable each other and run in rounds until none changes anything.
  bool repeated;
  /// True if it runs only on request, because its results are not faster on every device.
  bool on_request = false;
};

struct PassOptions {
  /// Names of passes to skip.
  std::vector<std::string> disabled;
  /// Names of passes on request that must run.
  std::vector<std::string> requested = {};
};

/// All passes, in the order in which they run.
const std::vector<Pass>& passes();
std::vector<std::string> pass_names();
/// The number of characters of the longest name, for tables.
size_t longest_pass_name();

/// Runs the list on a graph with any shapes, including symbolic ones. After every pass that changed
/// something, types are inferred again and the graph is verified. Returns one summary for each enabled pass.
/// Usage error, which lists all passes, for an unknown disabled name.
std::vector<Summary> optimize(Graph& graph, const PassOptions& options = {});

}  // namespace hone::transform
