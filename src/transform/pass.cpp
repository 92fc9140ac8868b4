// Runs the list of passes: times each one, and infers types and verifies the graph after each change.
#include "transform/pass.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "graph/infer.hpp"
#include "graph/subgraph.hpp"
#include "graph/verify.hpp"
#include "transform/constants.hpp"

namespace hone::transform {
namespace {

/// Limit on the rounds of the repeated passes; real models need two or three.
constexpr int kMaxRounds = 12;
/// Limits on the growth of constants: this factor relative to the model, or this many bytes in any case. One
/// round of constant folding may use all of it, so that rounds do not multiply it.
constexpr double kMaxConstantGrowth = 5;
constexpr double kFreeConstantBytes = double{128 << 20};

std::vector<bool> enabled_passes(const PassOptions& options) {
  const auto& list = passes();
  for (const std::string& name : options.requested) {
    const bool known = std::any_of(list.begin(), list.end(),
                                   [&](const Pass& pass) { return pass.name == name && pass.on_request; });
    if (!known) fail_internal("'{}' is no pass on request", name);
  }
  std::vector<bool> enabled;
  for (const Pass& pass : list) {
    enabled.push_back(!pass.on_request || std::find(options.requested.begin(), options.requested.end(),
                                                    pass.name) != options.requested.end());
  }
  for (const std::string& name : options.disabled) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Pass& pass) { return pass.name == name; });
    if (found == list.end()) {
      fail_usage("there is no pass named '{}'; the passes are {}", name, fmt::join(pass_names(), ", "));
    }
    enabled[static_cast<size_t>(found - list.begin())] = false;
  }
  return enabled;
}

/// Throws bad input if passes made the constants much larger than those of the model.
void check_growth(const Graph& graph, double brought) {
  const double bytes = constant_bytes(graph);
  if (bytes <= kFreeConstantBytes + kMaxConstantGrowth * brought) return;
  fail_bad_input("computing constants makes {:.0f} bytes of the {:.0f} that the model brought", bytes,
                 brought);
}

enum class Phase { kSimplify, kFuse, kCleanUp };

/// Adds the changes of one round of a pass to those of earlier rounds. Only the refusals of the last round
/// before fusion are kept: earlier ones may be outdated, and later ones concern nodes that are already fused.
void add_round(Summary& total, Summary round, double milliseconds, Phase phase) {
  total.milliseconds = total.milliseconds.value_or(0) + milliseconds;
  const int changes = total.changes + round.changes;
  for (std::string& note : round.notes) total.change(std::move(note));
  total.changes = changes;
  if (phase != Phase::kCleanUp) total.refusals = std::move(round.refusals);
}

bool run_pass(const Pass& pass, Graph& graph, Summary& total, Phase phase) {
  const auto start = std::chrono::steady_clock::now();
  Summary round = pass.apply(graph);
  const bool changed = round.changes > 0;
  if (changed) {
    graph::verify(graph, std::string(pass.name).c_str());
    graph::infer_types(graph);
  }
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  add_round(total, std::move(round), elapsed.count(), phase);
  return changed;
}

/// Adds the passes' changes to a node's subgraph to the changes of the whole graph.
void add_subgraph(std::vector<Summary>& totals, const std::vector<Summary>& inner, const std::string& where) {
  for (size_t i = 0; i < totals.size(); ++i) {
    totals[i].milliseconds = totals[i].milliseconds.value_or(0) + inner[i].milliseconds.value_or(0);
    const int changes = totals[i].changes + inner[i].changes;
    for (const std::string& note : inner[i].notes) totals[i].change(where + note);
    totals[i].changes = changes;
    for (const std::string& refusal : inner[i].refusals) totals[i].refuse(where + refusal);
  }
}

/// The subgraph with the types of the inputs that the node passes to it; nothing if they do not fit, which is
/// allowed for a branch that never runs.
std::shared_ptr<Graph> typed_body(const Graph& body, const std::vector<graph::SubgraphInput>& inputs) {
  try {
    return std::make_shared<Graph>(graph::typed_subgraph(body, inputs));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput) throw;
    return nullptr;
  }
}

/// Runs the list on the remaining subgraphs: those of If, Loop and Scan.
void optimize_subgraphs(Graph& graph, const PassOptions& options, std::vector<Summary>& totals) {
  for (graph::Node& node : graph.nodes) {
    if (!graph::controls_subgraphs(node)) continue;
    for (const std::string& name : graph::subgraph_attributes(node)) {
      const auto body =
          typed_body(*node.attributes.get<std::shared_ptr<Graph>>(name), graph::subgraph_inputs(graph, node));
      if (body == nullptr) continue;
      const std::vector<Summary> inner = optimize(*body, options);
      add_subgraph(totals, inner, fmt::format("{} of '{}': ", name, node.name));
      const bool changed =
          std::any_of(inner.begin(), inner.end(), [](const Summary& one) { return one.changes > 0; });
      // Its types are inferred again for the inputs of each program.
      if (changed) node.attributes.set(name, body);
    }
  }
}

}  // namespace

void Summary::change(std::string note) {
  ++changes;
  if (notes.size() < kMaxLines) notes.push_back(std::move(note));
}

void Summary::refuse(std::string reason) {
  if (refusals.size() < kMaxLines) refusals.push_back(std::move(reason));
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : passes()) names.emplace_back(pass.name);
  return names;
}

size_t longest_pass_name() {
  size_t longest = 0;
  for (const Pass& pass : passes()) longest = std::max(longest, pass.name.size());
  return longest;
}

std::vector<Summary> optimize(Graph& graph, const PassOptions& options) {
  const std::vector<bool> enabled = enabled_passes(options);
  const auto& list = passes();
  std::vector<Summary> totals(list.size());
  graph::infer_types(graph);
  graph::verify(graph, "import");
  const double brought = constant_bytes(graph);
  const auto run_all = [&](Phase phase) {
    bool changed = false;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!enabled[i] || list[i].repeated == (phase == Phase::kFuse)) continue;
      if (!run_pass(list[i], graph, totals[i], phase)) continue;
      check_growth(graph, brought);
      changed = true;
    }
    return changed;
  };
  for (int round = 0; round < kMaxRounds && run_all(Phase::kSimplify); ++round) {
  }
  const bool fused = run_all(Phase::kFuse);
  for (int round = 0; fused && round < kMaxRounds && run_all(Phase::kCleanUp); ++round) {
  }
  std::vector<Summary> summaries;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!enabled[i]) continue;
    totals[i].name = list[i].name;
    summaries.push_back(std::move(totals[i]));
  }
  optimize_subgraphs(graph, options, summaries);
  return summaries;
}

}  // namespace hone::transform
