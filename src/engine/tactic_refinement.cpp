// See tactic_refinement.hpp.
#include "engine/tactic_refinement.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "engine/step_timer.hpp"

namespace hone::engine {
namespace {

/// A trial must beat the network so far by this much.
constexpr double kMargin = 0.998;
/// Candidates whose own time is above the fastest one's by more than this are not tried.
constexpr double kHopeless = 1.35;
constexpr size_t kMostTrials = 8;
constexpr int kWarmups = 3;
constexpr int kPairs = 15;

double network_us(Program& program) {
  const ExecutionTimes times = program.executor().execute_timed();
  return times.device_us > 0 ? times.device_us : times.enqueue_us;
}

/// Candidates for which `wanted` holds, fastest first, without the hopeless ones among them.
template <class Wanted>
std::vector<size_t> fastest_of(const StepSearch& step, const Wanted& wanted) {
  std::vector<size_t> order(step.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return !wanted(step.candidates[i].tactic); });
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return step.median(a) < step.median(b); });
  if (order.empty()) return order;
  const double limit = step.median(order.front()) * kHopeless;
  std::erase_if(order, [&](size_t i) { return step.median(i) > limit; });
  return order;
}

/// Candidates worth a trial: the fastest ones of either kind, those that start early first, because their own
/// time is not what they cost.
std::vector<size_t> trials(const StepSearch& step, const StartsEarly& early) {
  std::vector<size_t> order = fastest_of(step, early);
  if (order.size() > kMostTrials) order.resize(kMostTrials);
  const auto others = fastest_of(step, [&](const std::string& tactic) { return !early(tactic); });
  order.insert(order.end(), others.begin(),
               others.begin() + static_cast<std::ptrdiff_t>(std::min(others.size(), kMostTrials)));
  std::erase(order, step.chosen);
  return order;
}

/// Whether `trial` runs faster than `current`, taking turns.
bool is_faster(Program& trial, Program& current) {
  std::vector<double> trial_us;
  std::vector<double> current_us;
  for (int i = 0; i < kWarmups; ++i) network_us(trial);
  for (int i = 0; i < kPairs; ++i) {
    current_us.push_back(network_us(current));
    trial_us.push_back(network_us(trial));
  }
  const double median = sample_quantile(trial_us, 0.5);
  return median < sample_quantile(current_us, 0.5) * kMargin && median < sample_quantile(current_us, 0.25);
}

/// Takes the fastest early candidate of every step if the network is right and faster with all of them.
void try_together(LayoutSearch& search, std::span<const size_t> order, size_t node_count,
                  std::span<const tensor::Tensor> inputs, const StartsEarly& early, const MakeProgram& make,
                  const CheckProgram& agrees, std::unique_ptr<Program>& current) {
  std::vector<size_t> before;
  for (const StepSearch& step : search.steps) before.push_back(step.chosen);
  for (const size_t i : order) {
    StepSearch& step = search.steps[i];
    if (const auto fastest = fastest_of(step, early); !fastest.empty()) step.chosen = fastest.front();
  }
  std::unique_ptr<Program> together = make(search.tactics(node_count));
  if (agrees(*together)) {
    together->upload(inputs);
    if (is_faster(*together, *current)) {
      current = std::move(together);
      return;
    }
  }
  for (size_t i = 0; i < search.steps.size(); ++i) search.steps[i].chosen = before[i];
}

/// Chooses `wanted` for the steps from `first` to before `last`, as far as the network agrees.
void take_again(LayoutSearch& search, size_t node_count, std::span<const size_t> wanted, size_t first,
                size_t last, const CheckTactics& agrees) {
  std::vector<size_t> before;
  bool changes = false;
  for (size_t i = first; i < last; ++i) {
    before.push_back(search.steps[i].chosen);
    changes = changes || wanted[i] != before.back();
    search.steps[i].chosen = wanted[i];
  }
  if (!changes || agrees(search.tactics(node_count))) return;
  for (size_t i = first; i < last; ++i) search.steps[i].chosen = before[i - first];
  if (last - first == 1) {
    StepSearch& step = search.steps[first];
    step.refusals.push_back(
        fmt::format("{}: beside the other steps' fastest tactics the network computes something else",
                    step.candidates[wanted[first]].tactic));
    return;
  }
  const size_t middle = first + (last - first) / 2;
  take_again(search, node_count, wanted, first, middle, agrees);
  take_again(search, node_count, wanted, middle, last, agrees);
}

}  // namespace

void keep_what_agrees(LayoutSearch& search, size_t node_count, const std::vector<std::string>& sound,
                      const CheckTactics& agrees) {
  std::vector<size_t> wanted;
  for (StepSearch& step : search.steps) {
    wanted.push_back(step.chosen);
    for (size_t k = 0; k < step.candidates.size(); ++k) {
      if (!step.cached && step.candidates[k].tactic == sound[step.nodes.front()]) step.chosen = k;
    }
  }
  take_again(search, node_count, wanted, 0, search.steps.size(), agrees);
}

void refine_choices(LayoutSearch& search, size_t node_count, std::span<const tensor::Tensor> inputs,
                    const StartsEarly& early, const MakeProgram& make, const CheckProgram& agrees,
                    double seconds) {
  std::vector<size_t> order(search.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order,
                [&](size_t i) { return search.steps[i].cached || search.steps[i].candidates.size() < 2; });
  const auto cost = [&](size_t i) {
    const StepSearch& step = search.steps[i];
    return step.median(step.chosen) * static_cast<double>(step.nodes.size());
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost(a) > cost(b); });

  std::unique_ptr<Program> current = make(search.tactics(node_count));
  current->upload(inputs);
  const auto begin = std::chrono::steady_clock::now();
  try_together(search, order, node_count, inputs, early, make, agrees, current);
  for (const size_t i : order) {
    StepSearch& step = search.steps[i];
    for (const size_t candidate : trials(step, early)) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (elapsed.count() > seconds) return;
      std::unique_ptr<Program> trial = make(search.tactics_with(node_count, i, candidate));
      if (!agrees(*trial)) continue;
      trial->upload(inputs);
      if (!is_faster(*trial, *current)) continue;
      step.chosen = candidate;
      current = std::move(trial);
    }
  }
}

}  // namespace hone::engine
