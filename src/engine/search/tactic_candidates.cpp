// See tactic_candidates.hpp.
#include "engine/search/tactic_candidates.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/search/step_signature.hpp"
#include "graph/operator.hpp"

namespace hone::engine {
namespace {

/// A challenger must be this much faster than the favourite.
constexpr double kMargin = 0.97;

/// Puts steps with one signature together.
class Collector {
 public:
  Collector(std::vector<StepSearch>& steps, StepPlan base, int least_level, const TimingCache& cache)
      : steps_(steps), base_(std::move(base)), least_level_(least_level), cache_(cache) {}

  void add(const std::string& signature, const StepKey& key, const std::string& name) {
    const auto [found, is_new] = known_.try_emplace(signature, steps_.size());
    if (is_new) {
      StepSearch& step = steps_.emplace_back();
      step.signature = signature;
      step.base = base_;
      if (const TimingEntry* entry = cache_.find(signature, least_level_)) step.use(*entry);
    }
    steps_[found->second].keys.push_back(key);
    steps_[found->second].names.push_back(name);
  }

 private:
  std::vector<StepSearch>& steps_;
  StepPlan base_;
  int least_level_;
  const TimingCache& cache_;
  std::map<std::string, size_t> known_;
};

}  // namespace

double StepSearch::median(size_t candidate) const {
  const Candidate& c = candidates[candidate];
  return c.times.empty() ? c.cached.median_us : sample_quantile(c.times, 0.5);
}

void StepSearch::use(const TimingEntry& entry) {
  cached = true;
  refusals = entry.refusals;
  short_of_memory = entry.short_of_memory;
  cut_short = entry.cut_short_after > 0;
  for (const auto& [tactic, time] : entry.times) {
    if (tactic == entry.chosen) chosen = candidates.size();
    candidates.push_back({base, {}, time});
    candidates.back().plan.tactic = parse_tactic_id(tactic);
  }
}

void StepSearch::choose() {
  chosen = 0;
  if (candidates.size() < 2) return;
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (median(i) < median(best)) best = i;
  }
  if (median(best) < median(0) * kMargin && median(best) < sample_quantile(candidates[0].times, 0.25))
    chosen = best;
}

void StepSearch::refuse(size_t candidate, const std::string& reason) {
  refusals.push_back(fmt::format("{}: {}", candidates[candidate].plan.tactic.text(), reason));
  candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(candidate));
}

void StepSearch::leave_out(size_t candidate) {
  refuse(candidate, std::string(kNoTimeLeft));
  cut_short = true;
}

void StepSearch::list(const ProgramStep& step, const std::string& surroundings) {
  std::map<std::string, size_t> seen;
  std::vector<std::pair<size_t, TacticId>> ranked;
  for (const TacticId& tactic : step.candidates) ranked.emplace_back(seen[tactic.name]++, tactic);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  listed = surroundings;
  for (auto& [rank, tactic] : ranked) {
    listed += " " + tactic.text();
    candidates.push_back({base, {}, {}});
    candidates.back().plan.tactic = std::move(tactic);
  }
}

void StepSearch::list_dissolved() {
  // One piece does not tell how the others' operands lie, so nothing is known of its surroundings.
  candidates.push_back({base, {}, {}});
  candidates.back().plan.tactic.name = kDissolved;
}

void StepSearch::take_times(const StepTimer& timer, const Plans& ran, size_t k) {
  Candidate& candidate = candidates[k];
  for (const StepKey& key : keys) {
    // A variant can turn out not to run; another then stands in, whose time is not its.
    const auto found = ran.find(key);
    if (found == ran.end() || found->second != candidate.plan) continue;
    const auto& times = timer.times(key);
    candidate.times.insert(candidate.times.end(), times.begin(), times.end());
  }
}

void StepSearch::reopen() {
  candidates.clear();
  refusals.clear();
  listed.clear();
  cached = false;
  short_of_memory = false;
  cut_short = false;
  chosen = 0;
}

TimingEntry StepSearch::entry(int level, double budget_seconds) {
  TimingEntry result{.chosen = candidates[chosen].plan.tactic.text(),
                     .refusals = refusals,
                     .level = level,
                     .short_of_memory = short_of_memory,
                     .cut_short_after = cut_short ? budget_seconds : 0};
  for (Candidate& candidate : candidates) {
    candidate.cached = {sample_quantile(candidate.times, 0.5), sample_quantile(candidate.times, 0.25),
                        static_cast<int>(candidate.times.size())};
    result.times[candidate.plan.tactic.text()] = candidate.cached;
  }
  return result;
}

Plans LayoutSearch::plans() const {
  Plans result = others;
  for (const StepSearch& step : steps) {
    if (step.candidates.empty()) continue;
    for (const StepKey& key : step.keys) result[key] = step.candidates[step.chosen].plan;
  }
  return result;
}

std::string LayoutSearch::left_out() const {
  size_t candidates = 0;
  size_t untimed = 0;
  size_t cut_short = 0;
  for (const auto* searched : {&steps, &pieces}) {
    for (const StepSearch& step : *searched) {
      candidates += step.candidates.size();
      untimed += static_cast<size_t>(
          std::count_if(step.refusals.begin(), step.refusals.end(),
                        [](const std::string& refusal) { return refusal.ends_with(kNoTimeLeft); }));
      cut_short += step.cut_short ? 1 : 0;
    }
  }
  if (cut_short == 0) return {};
  return fmt::format(
      "{} of {} candidates were not timed, and not all choices tried for {} of {} kinds of steps", untimed,
      candidates + untimed, cut_short, steps.size() + pieces.size());
}

size_t LayoutSearch::rounds() const {
  size_t rounds = 1;
  for (const StepSearch& step : steps) rounds = std::max(rounds, step.cached ? 1 : step.candidates.size());
  return rounds;
}

Plans LayoutSearch::plans_of_round(size_t k) const {
  Plans plans = others;
  for (const StepSearch& step : steps) {
    if (step.candidates.empty()) continue;
    const size_t candidate = step.cached ? step.chosen : k % step.candidates.size();
    for (const StepKey& key : step.keys) plans[key] = step.candidates[candidate].plan;
  }
  return plans;
}

void LayoutSearch::take_times(const StepTimer& timer, const Program& program, size_t k) {
  const Plans ran = plans_that_run(program);
  for (StepSearch& step : steps) {
    if (!step.cached && !step.candidates.empty()) step.take_times(timer, ran, k % step.candidates.size());
  }
}

void LayoutSearch::reopen(const std::set<StepKey>& keys, const Program& listed) {
  std::set<StepKey> unknown = keys;
  const Plans chosen = plans();
  for (const StepKey& key : keys) {
    if (listed.dissolved().contains(key) && chosen.at(key).tactic.dissolves()) unknown.erase(key);
  }
  for (const ProgramStep& step : listed.steps()) {
    const auto found = chosen.find(step.key());
    if (found == chosen.end()) continue;
    const auto& candidates = step.candidates;
    if (std::find(candidates.begin(), candidates.end(), found->second.tactic) != candidates.end())
      unknown.erase(step.key());
  }
  for (StepSearch& step : steps) {
    if (unknown.contains(step.keys.front())) step.reopen();
  }
}

Plans plans_that_run(const Program& program) {
  Plans ran = program.dissolved();
  for (const ProgramStep& step : program.steps()) {
    if (step.node >= 0) ran[step.key()] = step.plan;
  }
  return ran;
}

std::set<StepKey> run_otherwise(const Program& program, const Plans& plans) {
  const Plans ran = plans_that_run(program);
  std::set<StepKey> keys;
  for (const auto& [key, plan] : plans) {
    const auto found = ran.find(key);
    if (found != ran.end() && found->second != plan) keys.insert(key);
  }
  return keys;
}

LayoutSearch find_steps(const graph::Graph& graph, Layout layout, std::span<const NumericPolicy> policies,
                        int least_level, const TimingCache& cache) {
  LayoutSearch search{.layout = layout};
  Collector collector(search.steps, {.layout = layout, .policy = policies.front()}, least_level, cache);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (graph::traits_of(node).view) continue;
    collector.add(step_signature(graph, node, layout, policies), {static_cast<int32_t>(i), {}}, node.name);
  }
  return search;
}

LayoutSearch find_pieces(const Program& program, const LayoutSearch& nodes,
                         std::span<const NumericPolicy> policies, int least_level, const TimingCache& cache) {
  LayoutSearch search{.layout = nodes.layout, .others = nodes.plans()};
  Collector collector(search.steps, {.layout = nodes.layout, .policy = policies.front()}, least_level, cache);
  for (const ProgramStep& step : program.steps()) {
    if (!step.is_piece()) continue;
    const graph::Node& piece = *program.node_of(step);
    collector.add(step_signature(program.graph(), piece, nodes.layout, policies), step.key(), step.name);
  }
  return search;
}

}  // namespace hone::engine
