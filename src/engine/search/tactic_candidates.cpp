// See tactic_candidates.hpp.
#include "engine/search/tactic_candidates.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "engine/float32_nodes.hpp"
#include "engine/search/step_signature.hpp"
#include "graph/operator.hpp"

namespace hone::engine {
namespace {

/// A challenger must be faster than the default by this factor.
constexpr double kMargin = 0.97;

/// Separates a candidate's tactic from its policy.
constexpr std::string_view kIn = " in ";
/// Separates a refused candidate from the reason in the cache. A variant's name may contain a colon, but
/// without a space after it.
constexpr std::string_view kBecause = ": ";

/// A node is dissolved only after this number of samples, because a single disturbed sample would split a
/// step unnecessarily.
constexpr size_t kSamplesToDissolve = 3;
/// Handicap on the times of pieces: several steps cost the network more than their own times, and noise must
/// not split a step that is as fast when whole.
constexpr double kPiecesHandicap = 1.1;

/// Returns the default, which is the first of some candidates, unless another one is clearly faster.
size_t clearly_fastest(const StepSearch& step, const std::vector<size_t>& some) {
  const auto time_of = [&](size_t i) {
    return step.median(i) * (step.candidates[i].plan.tactic.dissolves() ? kPiecesHandicap : 1);
  };
  const size_t favourite = some.front();
  size_t best = favourite;
  for (const size_t i : some) {
    const Candidate& candidate = step.candidates[i];
    if (candidate.plan.tactic.dissolves() && candidate.times.size() < kSamplesToDissolve) continue;
    if (time_of(i) < time_of(best)) best = i;
  }
  const bool is_clear = time_of(best) < time_of(favourite) * kMargin &&
                        time_of(best) < sample_quantile(step.candidates[favourite].times, 0.25);
  return is_clear ? best : favourite;
}

/// Groups steps with the same signature.
class Collector {
 public:
  /// `graph` contains the nodes that keys refer to, and all values.
  Collector(std::vector<StepSearch>& steps, const graph::Graph& graph, Layout layout,
            std::span<const NumericPolicy> policies, int least_level, const TimingCache& cache)
      : steps_(steps),
        graph_(graph),
        layout_(layout),
        policies_(policies),
        least_level_(least_level),
        cache_(cache),
        node_policies_(graph) {}

  void add(const graph::Node& node, const StepKey& key, const std::string& name) {
    const std::vector<NumericPolicy> policies = policies_for(key.node);
    const std::string signature = step_signature(graph_, node, layout_, policies);
    const auto [found, is_new] = known_.try_emplace(signature, steps_.size());
    if (is_new) {
      StepSearch& step = steps_.emplace_back();
      step.signature = signature;
      step.base = {.layout = layout_, .policy = policies.front()};
      if (const TimingEntry* entry = cache_.find(signature, least_level_)) step.use(*entry);
    }
    steps_[found->second].keys.push_back(key);
    steps_[found->second].names.push_back(name);
  }

 private:
  /// The policies with which programs run the node: fp32 replaces any that rounds too much.
  std::vector<NumericPolicy> policies_for(int32_t node) const {
    std::vector<NumericPolicy> result;
    for (const NumericPolicy& policy : policies_) {
      const NumericPolicy own = node_policies_.policy_for(node, policy);
      if (std::find(result.begin(), result.end(), own) == result.end()) result.push_back(own);
    }
    return result;
  }

  std::vector<StepSearch>& steps_;
  const graph::Graph& graph_;
  Layout layout_;
  std::span<const NumericPolicy> policies_;
  int least_level_;
  const TimingCache& cache_;
  NodePolicies node_policies_;
  std::map<std::string, size_t> known_;
};

}  // namespace

std::string StepSearch::text_of(const StepPlan& plan) const {
  std::string text = plan.tactic.text();
  if (plan.policy != base.policy) text += fmt::format("{}{}", kIn, policy_name(plan.policy));
  return text;
}

StepPlan StepSearch::parse(const std::string& text) const {
  StepPlan plan = base;
  const size_t in = text.rfind(kIn);
  const auto policy = in == std::string::npos ? std::nullopt : find_policy(text.substr(in + kIn.size()));
  if (policy) plan.policy = *policy;
  plan.tactic = parse_tactic_id(policy ? text.substr(0, in) : text);
  return plan;
}

double StepSearch::median(size_t candidate) const {
  const Candidate& c = candidates[candidate];
  return c.times.empty() ? c.cached.median_us : sample_quantile(c.times, 0.5);
}

void StepSearch::use(const TimingEntry& entry) {
  cached = true;
  for (const std::string& text : entry.refusals) {
    const size_t colon = text.find(kBecause);
    refusals.push_back({parse(text.substr(0, colon)), text.substr(colon + kBecause.size())});
  }
  short_of_memory = entry.short_of_memory;
  cut_short = entry.cut_short_after > 0;
  for (const auto& [text, time] : entry.times) {
    if (text == entry.chosen) chosen = candidates.size();
    candidates.push_back({parse(text), {}, time});
  }
}

void StepSearch::choose() {
  chosen = 0;
  if (candidates.size() < 2) return;
  std::vector<size_t> all(candidates.size());
  std::iota(all.begin(), all.end(), size_t{0});
  chosen = clearly_fastest(*this, all);
}

std::optional<size_t> StepSearch::choice_in(const NumericPolicy& policy) const {
  std::vector<size_t> some;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].plan.policy == policy) some.push_back(i);
  }
  if (some.empty()) return std::nullopt;
  return clearly_fastest(*this, some);
}

void StepSearch::refuse(size_t candidate, Refusal reason) {
  refusals.push_back({candidates[candidate].plan, std::move(reason)});
  candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(candidate));
}

void StepSearch::leave_out(size_t candidate) {
  refuse(candidate, std::string(kNoTimeLeft));
  cut_short = true;
}

bool StepSearch::is_listed(const StepPlan& plan) const {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const Candidate& candidate) { return candidate.plan == plan; });
}

void StepSearch::list(const ProgramStep& step, const std::string& surroundings) {
  listed += surroundings;
  for (const TacticId& tactic : step.candidates) {
    StepPlan plan = base;
    plan.policy = step.plan.policy;
    plan.tactic = tactic;
    if (is_listed(plan)) continue;
    listed += " " + text_of(plan);
    candidates.push_back({std::move(plan), {}, {}});
  }
}

size_t StepSearch::tactic_count() const {
  size_t count = candidates.size();
  while (count > 0 && candidates[count - 1].plan.tactic.dissolves()) --count;
  return count;
}

void StepSearch::list_dissolved(const NumericPolicy& policy) {
  StepPlan plan = base;
  plan.policy = policy;
  plan.tactic.name = kDissolved;
  if (is_listed(plan)) return;
  candidates.push_back({std::move(plan), {}, {}});
  // A single piece does not show the arrangement of the others' operands, so it is equal only to itself.
  listed += signature;
}

void StepSearch::rank() {
  std::map<std::pair<std::string, NumericPolicy>, size_t> seen;
  std::vector<std::pair<size_t, Candidate>> ranked;
  for (Candidate& candidate : candidates) {
    const TacticId& tactic = candidate.plan.tactic;
    const size_t variant = seen[{tactic.name, candidate.plan.policy}]++;
    // Pieces take long to prepare, and are seldom faster.
    ranked.emplace_back(tactic.dissolves() ? SIZE_MAX : variant, std::move(candidate));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  candidates.clear();
  for (auto& [rank, candidate] : ranked) candidates.push_back(std::move(candidate));
}

void StepSearch::note_refusals(const std::vector<TacticRefusal>& answers, const NumericPolicy& policy) {
  for (const auto& [tactic, reason] : answers) {
    StepPlan plan = base;
    plan.policy = policy;
    plan.tactic = tactic;
    refusals.push_back({std::move(plan), reason});
  }
}

void StepSearch::take_times(const StepTimer& timer, const Plans& ran, size_t k) {
  Candidate& candidate = candidates[k];
  for (const StepKey& key : keys) {
    // A variant may be unable to run; another one then replaces it, and its time must not be recorded for
    // this variant.
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
  TimingEntry result{.chosen = text_of(candidates[chosen].plan),
                     .level = level,
                     .short_of_memory = short_of_memory,
                     .cut_short_after = cut_short ? budget_seconds : 0};
  for (const auto& [plan, reason] : refusals)
    result.refusals.push_back(fmt::format("{}{}{}", text_of(plan), kBecause, reason.text()));
  for (Candidate& candidate : candidates) {
    candidate.cached = {sample_quantile(candidate.times, 0.5), sample_quantile(candidate.times, 0.25),
                        static_cast<int>(candidate.times.size())};
    result.times[text_of(candidate.plan)] = candidate.cached;
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
                        [](const RefusedPlan& refused) { return refused.reason.text() == kNoTimeLeft; }));
      cut_short += step.cut_short ? 1 : 0;
    }
  }
  if (cut_short == 0) return {};
  return fmt::format(
      "{} of {} candidates were not timed, and not all choices tried for {} of {} kinds of steps", untimed,
      candidates + untimed, cut_short, steps.size() + pieces.size());
}

size_t LayoutSearch::tactic_rounds() const {
  size_t rounds = 1;
  for (const StepSearch& step : steps) rounds = std::max(rounds, step.cached ? 1 : step.tactic_count());
  return rounds;
}

size_t LayoutSearch::rounds() const {
  size_t dissolved = 0;
  for (const StepSearch& step : steps) {
    const size_t tactics = step.tactic_count();
    if (!step.cached && tactics > 0) dissolved = std::max(dissolved, step.candidates.size() - tactics);
  }
  return tactic_rounds() + dissolved;
}

size_t LayoutSearch::candidate_of_round(const StepSearch& step, size_t k) const {
  const size_t tactics = step.tactic_count();
  const size_t dissolved = step.candidates.size() - tactics;
  if (tactics == 0) return k % dissolved;
  const size_t first = tactic_rounds();
  return k < first || dissolved == 0 ? k % tactics : tactics + (k - first) % dissolved;
}

Plans LayoutSearch::plans_of_round(size_t k) const {
  Plans plans = others;
  for (const StepSearch& step : steps) {
    if (step.candidates.empty()) continue;
    const size_t candidate = step.cached ? step.chosen : candidate_of_round(step, k);
    for (const StepKey& key : step.keys) plans[key] = step.candidates[candidate].plan;
  }
  return plans;
}

void LayoutSearch::take_times(const StepTimer& timer, const Program& program, size_t k) {
  const Plans ran = plans_that_run(program);
  for (StepSearch& step : steps) {
    if (!step.cached && !step.candidates.empty()) step.take_times(timer, ran, candidate_of_round(step, k));
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
  Collector collector(search.steps, graph, layout, policies, least_level, cache);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (graph::traits_of(node).view) continue;
    collector.add(node, {static_cast<int32_t>(i), {}}, node.name);
  }
  return search;
}

LayoutSearch find_pieces(const Program& program, const LayoutSearch& nodes,
                         std::span<const NumericPolicy> policies, int least_level, const TimingCache& cache) {
  LayoutSearch search{.layout = nodes.layout, .others = nodes.plans()};
  Collector collector(search.steps, program.graph(), nodes.layout, policies, least_level, cache);
  for (const ProgramStep& step : program.steps()) {
    if (!step.is_piece()) continue;
    collector.add(*program.node_of(step), step.key(), step.name);
  }
  return search;
}

}  // namespace hone::engine
