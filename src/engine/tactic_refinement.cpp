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

/// Candidates worth a trial, fastest first.
std::vector<size_t> trials(const StepSearch& step) {
  std::vector<size_t> order(step.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return step.median(a) < step.median(b); });
  const double fastest = step.median(order.front());
  std::erase_if(order, [&](size_t i) { return i == step.chosen || step.median(i) > fastest * kHopeless; });
  if (order.size() > kMostTrials) order.resize(kMostTrials);
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

}  // namespace

void refine_choices(LayoutSearch& search, size_t node_count, std::span<const tensor::Tensor> inputs,
                    const MakeProgram& make, const CheckProgram& agrees, double seconds) {
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
  for (const size_t i : order) {
    StepSearch& step = search.steps[i];
    for (const size_t candidate : trials(step)) {
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
