// See policy_choice.hpp.
#include "engine/search/policy_choice.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/search/step_timer.hpp"

namespace hone::engine {
namespace {

/// A challenger must be faster than the incumbent by this factor.
constexpr double kMargin = 0.97;
constexpr int kRounds = 7;
/// After this number of seconds, no further round is timed.
constexpr double kSeconds = 6;

/// The index of the chosen candidate of each step.
using Choices = std::vector<size_t>;

bool is_open(const StepSearch& step) { return !step.cached && !step.candidates.empty(); }

Choices choices_of(const LayoutSearch& search) {
  Choices choices;
  for (const StepSearch& step : search.steps) choices.push_back(step.chosen);
  return choices;
}

void choose(LayoutSearch& search, const Choices& choices) {
  for (size_t i = 0; i < choices.size(); ++i) search.steps[i].chosen = choices[i];
}

Choices choices_in(const LayoutSearch& search, const NumericPolicy& policy) {
  Choices choices;
  for (const StepSearch& step : search.steps)
    choices.push_back(is_open(step) ? step.choice_in(policy).value_or(step.chosen) : step.chosen);
  return choices;
}

/// Marks the steps in which the rivals differ.
void cut_short(LayoutSearch& search, std::span<const Choices> rivals) {
  for (size_t i = 0; i < search.steps.size(); ++i) {
    const auto differs = [&](const Choices& choices) { return choices[i] != rivals.front()[i]; };
    if (std::any_of(rivals.begin(), rivals.end(), differs)) search.steps[i].cut_short = true;
  }
}

struct Network {
  Choices choices;
  std::unique_ptr<Execution> program;
  std::vector<double> times_us;
};

/// Returns null for choices that do not fit into memory, or with which the network computes a wrong result.
std::unique_ptr<Execution> right_program(LayoutSearch& search, const Choices& choices, TacticTrials& trials) {
  choose(search, choices);
  std::unique_ptr<Execution> made;
  const bool agrees = trials
                          .mistake([&] {
                            made = trials.program(search.layout, search.plans());
                            return trials.agrees(*made);
                          })
                          .empty();
  if (!agrees) return nullptr;
  made->upload(trials.inputs());
  return made;
}

}  // namespace

void choose_policies(LayoutSearch& search, std::span<const NumericPolicy> policies, TacticTrials& trials,
                     const SearchBudget& budget, const SearchProgress& progress) {
  const Choices mixed = choices_of(search);
  std::vector<Choices> rivals;
  const auto add = [&](Choices choices) {
    if (std::find(rivals.begin(), rivals.end(), choices) == rivals.end())
      rivals.push_back(std::move(choices));
  };
  if (policies.size() > 1) add(choices_in(search, policies.front()));
  add(mixed);
  for (const NumericPolicy& policy : policies.subspan(1)) add(choices_in(search, policy));
  if (rivals.size() < 2) return;
  std::vector<Network> networks;
  for (const Choices& choices : rivals) {
    if (budget.is_over()) {
      cut_short(search, rivals);
      choose(search, mixed);
      return;
    }
    if (auto program = right_program(search, choices, trials))
      networks.push_back({choices, std::move(program), {}});
  }
  choose(search, mixed);
  if (networks.empty()) return;
  const SearchBudget time = budget.at_most(kSeconds);
  for (int round = 0; round < kRounds && (round == 0 || !time.is_over()); ++round) {
    progress.report("timing numeric policies");
    for (Network& network : networks) network.times_us.push_back(network_us(*network.program));
  }
  const Network* best = networks.data();
  for (const Network& network : networks) {
    if (sample_quantile(network.times_us, 0.5) < sample_quantile(best->times_us, 0.5) * kMargin)
      best = &network;
  }
  choose(search, best->choices);
}

}  // namespace hone::engine
