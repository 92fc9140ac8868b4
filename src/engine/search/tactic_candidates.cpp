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
    candidates.push_back({tactic, {}, time});
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
  refusals.push_back(fmt::format("{}: {}", candidates[candidate].tactic, reason));
  candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(candidate));
}

void StepSearch::leave_out(size_t candidate) {
  refuse(candidate, std::string(kNoTimeLeft));
  cut_short = true;
}

void StepSearch::list(const ProgramStep& step, const std::string& surroundings) {
  std::map<std::string, size_t> seen;
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& tactic : step.node_candidates())
    ranked.emplace_back(seen[tactic.substr(0, tactic.find(':'))]++, tactic);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [rank, tactic] : ranked) candidates.push_back({std::move(tactic), {}, {}});
  // Of a dissolved node one piece does not tell how the others' operands lie.
  if (!step.is_piece()) listed = fmt::format("{} {}", surroundings, fmt::join(step.candidates, " "));
}

void StepSearch::take_times(const StepTimer& timer, const std::vector<const std::string*>& ran, size_t k) {
  Candidate& candidate = candidates[k];
  for (const size_t node : nodes) {
    // A variant can turn out not to run; another then stands in, whose time is not its.
    if (ran[node] == nullptr || *ran[node] != candidate.tactic) continue;
    const auto& times = timer.node_times(node);
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
  TimingEntry result{candidates[chosen].tactic,     {}, refusals, level, short_of_memory,
                     cut_short ? budget_seconds : 0};
  for (Candidate& candidate : candidates) {
    candidate.cached = {sample_quantile(candidate.times, 0.5), sample_quantile(candidate.times, 0.25),
                        static_cast<int>(candidate.times.size())};
    result.times[candidate.tactic] = candidate.cached;
  }
  return result;
}

std::vector<std::string> LayoutSearch::tactics(size_t node_count) const {
  std::vector<std::string> result(node_count);
  for (const StepSearch& step : steps) {
    if (step.candidates.empty()) continue;
    for (const size_t node : step.nodes) result[node] = step.candidates[step.chosen].tactic;
  }
  return result;
}

std::string LayoutSearch::left_out() const {
  size_t candidates = 0;
  size_t untimed = 0;
  size_t cut_short = 0;
  for (const StepSearch& step : steps) {
    candidates += step.candidates.size();
    untimed += static_cast<size_t>(
        std::count_if(step.refusals.begin(), step.refusals.end(),
                      [](const std::string& refusal) { return refusal.ends_with(kNoTimeLeft); }));
    cut_short += step.cut_short ? 1 : 0;
  }
  if (cut_short == 0) return {};
  return fmt::format(
      "{} of {} candidates were not timed, and not all choices tried for {} of {} kinds of steps", untimed,
      candidates + untimed, cut_short, steps.size());
}

size_t LayoutSearch::rounds() const {
  size_t rounds = 1;
  for (const StepSearch& step : steps) rounds = std::max(rounds, step.cached ? 1 : step.candidates.size());
  return rounds;
}

std::vector<std::string> LayoutSearch::tactics_of_round(size_t k, size_t node_count) const {
  std::vector<std::string> tactics(node_count);
  for (const StepSearch& step : steps) {
    if (step.candidates.empty()) continue;
    const size_t candidate = step.cached ? step.chosen : k % step.candidates.size();
    for (const size_t node : step.nodes) tactics[node] = step.candidates[candidate].tactic;
  }
  return tactics;
}

void LayoutSearch::take_times(const StepTimer& timer, const Program& program, size_t k) {
  const std::vector<const std::string*> ran = tactics_that_run(program, program.graph().nodes.size());
  for (StepSearch& step : steps) {
    if (!step.cached && !step.candidates.empty()) step.take_times(timer, ran, k % step.candidates.size());
  }
}

void LayoutSearch::reopen(const std::set<size_t>& nodes, const Program& listed) {
  std::set<size_t> unknown = nodes;
  const std::vector<std::string> chosen = tactics(listed.graph().nodes.size());
  for (const ProgramStep& step : listed.steps()) {
    if (step.node < 0) continue;
    const auto node = static_cast<size_t>(step.node);
    const std::vector<std::string> candidates = step.node_candidates();
    if (std::find(candidates.begin(), candidates.end(), chosen[node]) != candidates.end())
      unknown.erase(node);
  }
  for (StepSearch& step : steps) {
    if (unknown.contains(step.nodes.front())) step.reopen();
  }
}

std::vector<const std::string*> tactics_that_run(const Program& program, size_t node_count) {
  std::vector<const std::string*> ran(node_count, nullptr);
  for (const ProgramStep& step : program.steps()) {
    if (step.node >= 0) ran[static_cast<size_t>(step.node)] = &step.node_tactic();
  }
  return ran;
}

std::set<size_t> nodes_run_otherwise(const Program& program, const std::vector<std::string>& tactics) {
  const std::vector<const std::string*> ran = tactics_that_run(program, tactics.size());
  std::set<size_t> nodes;
  for (size_t node = 0; node < tactics.size(); ++node) {
    if (!tactics[node].empty() && ran[node] != nullptr && *ran[node] != tactics[node]) nodes.insert(node);
  }
  return nodes;
}

LayoutSearch find_steps(const graph::Graph& graph, Layout layout, Precision precision, int least_level,
                        const TimingCache& cache) {
  LayoutSearch search{layout, {}};
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph::traits_of(graph.nodes[i]).view) continue;
    std::string signature = step_signature(graph, graph.nodes[i], layout, precision);
    const auto [found, is_new] = known.try_emplace(signature, search.steps.size());
    if (is_new) {
      StepSearch step;
      step.signature = signature;
      if (const TimingEntry* entry = cache.find(signature, least_level)) step.use(*entry);
      search.steps.push_back(std::move(step));
    }
    search.steps[found->second].nodes.push_back(i);
  }
  return search;
}

}  // namespace hone::engine
