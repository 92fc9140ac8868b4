// A pass: a named rewrite of a graph that keeps its meaning. This header is what the rest of the program
// sees: run the list over a graph and read what each pass did and refused to do.
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
  /// One line a change, the first kMaxLines of them.
  std::vector<std::string> notes;
  /// Near misses and why they stayed: "'conv1' + 'bn1' not folded: 'conv1' has 2 readers".
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
  /// Simplifying passes make work for each other and run in rounds until none changes anything.
  bool repeated;
  /// Runs only where it is asked for: what it makes not every device runs faster.
  bool on_request = false;
};

struct PassOptions {
  /// Names of passes to leave out.
  std::vector<std::string> disabled;
  /// Names of passes on request that are to run.
  std::vector<std::string> requested = {};
};

/// Every pass, in the order it runs.
const std::vector<Pass>& passes();
std::vector<std::string> pass_names();
/// For columns of names, in characters.
size_t longest_pass_name();

/// Runs the list over a graph of any shapes, symbolic ones included; types are inferred anew and the
/// graph is verified after every pass that changed something. One summary for each enabled pass.
/// Usage error, naming all passes, when a disabled name is unknown.
std::vector<Summary> optimize(Graph& graph, const PassOptions& options = {});

}  // namespace hone::transform
