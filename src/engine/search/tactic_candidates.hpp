// The state of a tactic search for every step: its candidates with their times, and which one is chosen.
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

/// Why a candidate was not timed, where it is nobody's fault.
constexpr std::string_view kNoTimeLeft = "not timed: the time for the search was over";

struct Candidate {
  StepPlan plan;
  /// Microseconds, of all steps that share the candidates.
  std::vector<double> times;
  TimingEntry::Time cached;
};

/// A candidate that is out of the question, and why.
struct RefusedPlan {
  StepPlan plan;
  Refusal reason;
};

/// Steps that would be timed alike share one: what is chosen for one of them is chosen for all.
struct StepSearch {
  std::string signature;
  /// Nodes of the graph, or pieces of nodes that are dissolved.
  std::vector<StepKey> keys;
  /// Their names.
  std::vector<std::string> names;
  /// The common part of its candidates' plans, unless they are in another policy than the engine's own; no
  /// tactic.
  StepPlan base;
  /// The first is the device's favourite.
  std::vector<Candidate> candidates;
  std::vector<RefusedPlan> refusals;
  /// How the steps before it leave its operands, how its results lie, and its candidates: what its times
  /// depend on. Empty before they are listed.
  std::string listed;
  bool cached = false;
  /// Some were refused for want of memory.
  bool short_of_memory = false;
  /// The time of the search was over before everything was looked at.
  bool cut_short = false;
  size_t chosen = 0;

  /// For people and files: the tactic, and the policy where it is not the engine's own, "chain in bf16".
  std::string text_of(const StepPlan& plan) const;
  /// Parses the result of text_of().
  StepPlan parse(const std::string& text) const;
  double median(size_t candidate) const;
  /// Takes candidates and choice from an earlier search.
  void use(const TimingEntry& entry);
  /// Keeps the favourite unless another one's median is clearly below its median and below its lower
  /// quartile, so that noise wins nothing. Dissolving takes three samples, and a tenth less time.
  void choose();
  /// The candidate that choose() would take among those in that policy; none if there are none.
  std::optional<size_t> choice_in(const NumericPolicy& policy) const;
  /// Moves a candidate to the refusals.
  void refuse(size_t candidate, Refusal reason);
  /// Removes a candidate for which there is no time left.
  void leave_out(size_t candidate);
  /// Adds the candidates of a program's step, which are in its policy. `surroundings`: how the steps before
  /// it leave its operands, and how its results lie.
  void list(const ProgramStep& step, const std::string& surroundings);
  /// Lists a node that only its pieces run in that policy.
  void list_dissolved(const NumericPolicy& policy);
  bool is_listed(const StepPlan& plan) const;
  /// How many of the ranked candidates are tactics: the first ones. The others dissolve.
  size_t tactic_count() const;
  /// Puts the first candidate of every tactic and policy before the second of any, and dissolving last: where
  /// time is short, each has its best guesses looked at.
  void rank();
  /// Adds what tactics answered to a program's step in that policy.
  void note_refusals(const std::vector<TacticRefusal>& answers, const NumericPolicy& policy);
  /// Takes the samples of candidate `k`, where the program ran by it; `ran` as plans_that_run() has it.
  void take_times(const StepTimer& timer, const Plans& ran, size_t k);
  /// Forgets what came from an earlier search.
  void reopen();
  /// The entry for the cache; fills in the candidates' summaries. `level` and `budget_seconds`: the search's.
  TimingEntry entry(int level, double budget_seconds);
};

/// All steps of a graph in one layout, or all pieces of the nodes that are dissolved.
struct LayoutSearch {
  Layout layout = Layout::kPlain;
  std::vector<StepSearch> steps;
  /// Plans of steps that are none of these: of the nodes for their pieces, and the other way round.
  Plans others;
  /// Pieces of nodes that are dissolved, which were searched when these were known.
  std::vector<StepSearch> pieces;
  /// Work that gets the candidates ready.
  std::vector<Preparation> preparations;
  /// The choices, as ProgramOptions takes them.
  Plans plans() const;
  /// A sentence about the work that the time did not suffice for; empty if there was none.
  std::string left_out() const;
  /// Rounds that let every candidate of every step run: first every tactic, then dissolving.
  size_t rounds() const;
  size_t tactic_rounds() const;
  /// Which of a step's candidates round `k` takes: its tactics in turn, then dissolving. It has one at least.
  size_t candidate_of_round(const StepSearch& step, size_t k) const;
  /// The plans of round `k`: that candidate of every step, or what the cache chose.
  Plans plans_of_round(size_t k) const;
  /// Takes the samples of a program that ran with the plans of round `k`.
  void take_times(const StepTimer& timer, const Program& program, size_t k);
  /// Forgets the choices for those of the nodes that a program with all candidates does not offer. A step's
  /// first node speaks for all, as in a search. A choice that is offered stays, even if it refuses next to
  /// the other choices: so it did when it was made.
  void reopen(const std::set<StepKey>& keys, const Program& listed);
};

/// The plan by which each node that has a step runs, kDissolved where its pieces run, and the plan of each
/// piece.
Plans plans_that_run(const Program& program);
/// Steps that run otherwise than was chosen for them, since that tactic is unknown or refuses.
std::set<StepKey> run_otherwise(const Program& program, const Plans& plans);

/// Steps of the graph by signature, with the cache's entries from searches of that level or above.
LayoutSearch find_steps(const graph::Graph& graph, Layout layout, std::span<const NumericPolicy> policies,
                        int least_level, const TimingCache& cache);
/// Finds the pieces in a program, given the plans of the nodes.
LayoutSearch find_pieces(const Program& program, const LayoutSearch& nodes,
                         std::span<const NumericPolicy> policies, int least_level, const TimingCache& cache);

}  // namespace hone::engine
