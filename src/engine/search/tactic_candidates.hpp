// The state of a tactic search for every step: its candidates with their times, and the chosen one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/program/program.hpp"
#include "engine/search/step_timer.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::engine {

/// The reason for a candidate that was not timed because the time was over.
constexpr std::string_view kNoTimeLeft = "not timed: the time for the search was over";

struct Candidate {
  StepPlan plan;
  /// Microseconds, of all steps that share the candidates.
  std::vector<double> times;
  TimingEntry::Time cached;
};

/// A candidate that cannot be used, and the reason.
struct RefusedPlan {
  StepPlan plan;
  Refusal reason;
};

/// Steps with equal times share one object: a choice applies to all of them.
struct StepSearch {
  std::string signature;
  /// Nodes of the graph, or pieces of dissolved nodes.
  std::vector<StepKey> keys;
  /// The names of these steps.
  std::vector<std::string> names;
  /// The common part of its candidates' plans, without a tactic; the policy may differ from the engine's own.
  StepPlan base;
  /// The first one is the device's default.
  std::vector<Candidate> candidates;
  std::vector<RefusedPlan> refusals;
  /// A description of everything on which its times depend: the arrangement of its operands and results, and
  /// its candidates. Empty before they are listed.
  std::string listed;
  bool cached = false;
  /// True if some candidates were refused because of too little memory.
  bool short_of_memory = false;
  /// True if the time of the search was over before all candidates were examined.
  bool cut_short = false;
  size_t chosen = 0;

  /// Text for people and files: the tactic, and the policy if it differs from the engine's own, "chain in
  /// bf16".
  std::string text_of(const StepPlan& plan) const;
  /// Parses the result of text_of().
  StepPlan parse(const std::string& text) const;
  double median(size_t candidate) const;
  /// Takes candidates and choice from an earlier search.
  void use(const TimingEntry& entry);
  /// Keeps the default unless the median of another candidate is clearly below the default's median and below
  /// its lower quartile, so that noise cannot win. Dissolving needs three samples and must be a tenth faster.
  void choose();
  /// The candidate that choose() would take among those with this policy; nothing if there are none.
  std::optional<size_t> choice_in(const NumericPolicy& policy) const;
  /// Moves a candidate to the refusals.
  void refuse(size_t candidate, Refusal reason);
  /// Removes a candidate for which there is no time left.
  void leave_out(size_t candidate);
  /// Adds the candidates of a program's step, which have its policy. `surroundings` describes the arrangement
  /// in which the previous steps leave its operands, and that of its results.
  void list(const ProgramStep& step, const std::string& surroundings);
  /// Adds a node that can only run as pieces with this policy.
  void list_dissolved(const NumericPolicy& policy);
  bool is_listed(const StepPlan& plan) const;
  /// The number of tactics among the ranked candidates. They come first; the others dissolve the node.
  size_t tactic_count() const;
  /// Puts the first candidate of every tactic and policy before the second of any, and dissolving last. If
  /// time is short, the best guess of each is then examined.
  void rank();
  /// Adds the tactics' refusals of a program's step with this policy.
  void note_refusals(const std::vector<TacticRefusal>& answers, const NumericPolicy& policy);
  /// Takes the samples of candidate `k` if the program ran it; `ran` is the result of plans_that_run().
  void take_times(const StepTimer& timer, const Plans& ran, size_t k);
  /// Forgets the results of an earlier search.
  void reopen();
  /// Returns the entry for the cache, and computes the candidates' summaries. `level` and `budget_seconds`
  /// are those of the search.
  TimingEntry entry(int level, double budget_seconds);
};

/// All steps of a graph in one layout, or all pieces of dissolved nodes.
struct LayoutSearch {
  Layout layout = Layout::kPlain;
  std::vector<StepSearch> steps;
  /// Plans of other steps: the plans of nodes if the steps are pieces, and the reverse.
  Plans others;
  /// Pieces of dissolved nodes, which are searched after the choices for nodes are known.
  std::vector<StepSearch> pieces;
  /// Background work that prepares the candidates.
  std::vector<Preparation> preparations;
  /// The choices in the form of ProgramOptions.
  Plans plans() const;
  /// A sentence about the work for which the time was too short; empty if there was none.
  std::string left_out() const;
  /// The number of rounds in which every candidate of every step runs: first every tactic, then dissolving.
  size_t rounds() const;
  size_t tactic_rounds() const;
  /// The candidate that round `k` uses for a step: its tactics in turn, then dissolving. The step must have
  /// at least one candidate.
  size_t candidate_of_round(const StepSearch& step, size_t k) const;
  /// The plans of round `k`: this candidate of every step, or the choice from the cache.
  Plans plans_of_round(size_t k) const;
  /// Takes the samples of a program that ran with the plans of round `k`.
  void take_times(const StepTimer& timer, const Program& program, size_t k);
  /// Forgets the choices for nodes to which a program with all candidates does not offer them. As in a
  /// search, a step's first node represents all its nodes. A choice that is offered stays, even if it refuses
  /// next to the other choices, because it did so when it was made.
  void reopen(const std::set<StepKey>& keys, const Program& listed);
};

/// The plan by which each node that has a step runs (kDissolved if its pieces run), and the plan of each
/// piece.
Plans plans_that_run(const Program& program);
/// Steps that run differently from their plan, because the tactic is unknown or refuses.
std::set<StepKey> run_otherwise(const Program& program, const Plans& plans);

/// Returns the steps of the graph by signature, with the cache's entries from searches of at least this
/// level.
LayoutSearch find_steps(const graph::Graph& graph, Layout layout, std::span<const NumericPolicy> policies,
                        int least_level, const TimingCache& cache);
/// Returns the pieces of nodes in a program, given the plans of the nodes.
LayoutSearch find_pieces(const Program& program, const LayoutSearch& nodes,
                         std::span<const NumericPolicy> policies, int least_level, const TimingCache& cache);

}  // namespace hone::engine
