// See tactic_refinement.hpp.
#include "engine/search/tactic_refinement.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "engine/search/step_timer.hpp"

namespace hone::engine {
namespace {

/// A trial must be faster than the current network by this factor; or the steps in which it differs, with
/// those after them, must be faster by the second factor, because their times vary less.
constexpr double kMargin = 0.998;
constexpr double kStepMargin = 0.99;
/// Candidates whose own time exceeds the fastest one's by this factor are not tried.
constexpr double kHopeless = 1.35;
constexpr size_t kMostTrials = 8;
/// If a round made the network faster by at least this factor, another round follows; a smaller gain may be
/// chance.
constexpr double kWorthAnotherRound = 0.995;
constexpr int kWarmups = 3;
constexpr int kPairs = 15;
/// After this number of pairs, a network that is slower by this factor is given up, unless the steps in which
/// it differs are faster.
constexpr int kFirstPairs = 5;
constexpr double kGivenUp = 1.01;

/// Candidates for which `wanted` holds, fastest first, without the hopeless ones.
template <class Wanted>
std::vector<size_t> fastest_of(const StepSearch& step, const Wanted& wanted) {
  std::vector<size_t> order(step.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return !wanted(step.candidates[i].plan.tactic); });
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return step.median(a) < step.median(b); });
  if (order.empty()) return order;
  const double limit = step.median(order.front()) * kHopeless;
  std::erase_if(order, [&](size_t i) { return step.median(i) > limit; });
  return order;
}

/// Candidates worth a trial: the fastest ones of both kinds. Candidates that start early come first, because
/// their own time is not their cost in the network.
std::vector<size_t> worth_a_trial(const StepSearch& step, const StartsEarly& early) {
  std::vector<size_t> order = fastest_of(step, early);
  if (order.size() > kMostTrials) order.resize(kMostTrials);
  const auto others = fastest_of(step, [&](const TacticId& tactic) { return !early(tactic); });
  order.insert(order.end(), others.begin(),
               others.begin() + static_cast<std::ptrdiff_t>(std::min(others.size(), kMostTrials)));
  std::erase(order, step.chosen);
  return order;
}

/// The sum of the times of some nodes in each run, in microseconds.
std::vector<double> sums(const StepTimer& timer, const std::vector<bool>& wanted) {
  std::vector<double> result(timer.total_times().size(), 0.0);
  for (size_t node = 0; node < wanted.size(); ++node) {
    const std::vector<double>& times = timer.node_times(node);
    for (size_t run = 0; wanted[node] && run < times.size(); ++run) result[run] += times[run];
  }
  return result;
}

/// The nodes that run differently, and after each the next node that takes time, because it may have to wait
/// longer.
std::vector<bool> touched_nodes(const Plans& plans, const Plans& others, const StepTimer& timer,
                                size_t node_count) {
  std::vector<bool> differs(node_count);
  const auto compare = [&](const Plans& these, const Plans& those) {
    for (const auto& [key, plan] : these) {
      const auto found = those.find(key);
      if (found == those.end() || found->second != plan) differs[static_cast<size_t>(key.node)] = true;
    }
  };
  compare(plans, others);
  compare(others, plans);
  std::vector<bool> touched(node_count);
  bool behind = false;
  for (size_t node = 0; node < node_count; ++node) {
    touched[node] = behind || differs[node];
    if (!timer.node_times(node).empty()) behind = differs[node];
  }
  return touched;
}

/// A network and its plans.
struct Choice {
  Plans plans;
  std::unique_ptr<Execution> program;
};

/// True if the median of the times is below that of the others by the margin, and below their lower quartile.
bool is_faster(const std::vector<double>& times, const std::vector<double>& others, double margin) {
  const double median = sample_quantile(times, 0.5);
  return median < margin * sample_quantile(others, 0.5) && median < sample_quantile(others, 0.25);
}

/// Compares two networks that take turns.
class Duel {
 public:
  Duel(const Choice& trial, const Choice& current)
      : trial_(trial), current_(current), trial_steps_(*trial.program), current_steps_(*current.program) {}

  /// The time of the trial divided by that of the current network; 1 unless the trial is clearly faster, or
  /// the network is slightly faster and the steps in which it differs are clearly faster.
  double time_ratio() {
    for (int i = 0; i < kWarmups; ++i) network_us(*trial_.program);
    run(kFirstPairs);
    if (is_hopeless()) return 1;
    run(kPairs - kFirstPairs);
    const double before = sample_quantile(current_us_, 0.5);
    const double ratio = sample_quantile(trial_us_, 0.5) / before;
    if (is_faster(trial_us_, current_us_, kMargin)) return ratio;
    const std::vector<double> of_trial = touched(trial_steps_);
    const std::vector<double> of_current = touched(current_steps_);
    if (ratio >= 1 || !is_faster(of_trial, of_current, kStepMargin)) return 1;
    const double saved = sample_quantile(of_current, 0.5) - sample_quantile(of_trial, 0.5);
    return std::max(ratio, 1 - saved / before);
  }

 private:
  void run(int pairs) {
    for (int i = 0; i < pairs; ++i) {
      current_us_.push_back(network_us(*current_.program));
      trial_us_.push_back(network_us(*trial_.program));
      current_steps_.sample_uploaded();
      trial_steps_.sample_uploaded();
    }
  }

  bool is_hopeless() const {
    return sample_quantile(trial_us_, 0.5) > kGivenUp * sample_quantile(current_us_, 0.5) &&
           sample_quantile(touched(trial_steps_), 0.5) > sample_quantile(touched(current_steps_), 0.5);
  }

  std::vector<double> touched(const StepTimer& timer) const {
    return sums(timer, touched_nodes(trial_.plans, current_.plans, current_steps_,
                                     current_.program->program().graph().nodes.size()));
  }

  const Choice& trial_;
  const Choice& current_;
  StepTimer trial_steps_;
  StepTimer current_steps_;
  std::vector<double> trial_us_;
  std::vector<double> current_us_;
};

/// The improving choices, and the network that they form.
class Refinement {
 public:
  Refinement(LayoutSearch& search, TacticTrials& trials, const StartsEarly& early, const SearchBudget& budget,
             const SearchProgress& progress)
      : search_(search),
        trials_(trials),
        early_(early),
        budget_(budget),
        progress_(progress),
        current_{search.plans(), nullptr} {
    current_.program = trials.program(search.layout, current_.plans);
    current_.program->upload(trials.inputs());
  }

  /// Tries everything once; returns whether the gain was large enough, and there is time, to try again.
  bool improve() {
    ratio_ = 1;
    improve_runs();
    improve_steps();
    return ratio_ < kWorthAnotherRound && !budget_.is_over();
  }

  /// True if there was time for everything.
  bool is_complete() const { return complete_; }

 private:
  bool is_open(const StepSearch& step) const { return !step.cached && step.candidates.size() > 1; }

  /// Keeps the network with the present choices if it is right and faster. A rejected network is not tried
  /// again, because among many tries one would win by chance.
  bool accept() {
    Plans plans = search_.plans();
    if (rejected_.contains(plans)) return false;
    if (is_better(plans)) return true;
    rejected_.insert(std::move(plans));
    return false;
  }

  /// Two networks at the same time may not fit into memory.
  bool is_better(const Plans& plans) {
    bool better = false;
    return trials_.fits([&] { better = beats_current(plans); }) && better;
  }

  bool beats_current(const Plans& plans) {
    progress_.report(fmt::format("trying choices in the whole network, {} so far", ++trials_made_),
                     budget_.left());
    Choice trial{plans, trials_.program(search_.layout, plans)};
    trial.program->upload(trials_.inputs());
    const double ratio = Duel(trial, current_).time_ratio();
    if (ratio == 1 || !trials_.agrees(*trial.program)) return false;
    trial.program->upload(trials_.inputs());
    ratio_ *= ratio;
    current_ = std::move(trial);
    return true;
  }

  /// Tries the fastest early candidates in whole runs of steps, because a single one gains nothing: first in
  /// all steps, then in shorter and shorter runs, each of which begins in the middle of the previous one.
  /// Half of the time is left for single steps.
  void improve_runs() {
    const SearchBudget half = budget_.part(0.5);
    const size_t count = search_.steps.size();
    for (size_t length = count; length > 1; length = length == 2 ? 1 : (length + 1) / 2) {
      for (size_t first = 0; first + 1 < count; first += length / 2) {
        if (half.is_over()) {
          complete_ = false;
          return;
        }
        take_early(first, std::min(first + length, count));
      }
    }
  }

  void take_early(size_t first, size_t last) {
    std::vector<size_t> before;
    bool changes = false;
    for (size_t i = first; i < last; ++i) {
      StepSearch& step = search_.steps[i];
      before.push_back(step.chosen);
      if (!is_open(step) || early_(step.candidates[step.chosen].plan.tactic)) continue;
      const auto fastest = fastest_of(step, early_);
      if (fastest.empty()) continue;
      step.chosen = fastest.front();
      changes = true;
    }
    if (!changes || accept()) return;
    for (size_t i = first; i < last; ++i) search_.steps[i].chosen = before[i - first];
  }

  /// Tries single steps, the most expensive first.
  void improve_steps() {
    std::vector<size_t> order(search_.steps.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t i) { return !is_open(search_.steps[i]); });
    const auto cost = [&](size_t i) {
      const StepSearch& step = search_.steps[i];
      return step.median(step.chosen) * static_cast<double>(step.keys.size());
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost(a) > cost(b); });
    for (const size_t i : order) {
      StepSearch& step = search_.steps[i];
      for (const size_t candidate : worth_a_trial(step, early_)) {
        if (budget_.is_over()) {
          complete_ = false;
          return;
        }
        const size_t before = std::exchange(step.chosen, candidate);
        if (!accept()) step.chosen = before;
      }
    }
  }

  LayoutSearch& search_;
  TacticTrials& trials_;
  const StartsEarly& early_;
  const SearchBudget& budget_;
  const SearchProgress& progress_;
  Choice current_;
  std::set<Plans> rejected_;
  double ratio_ = 1;  ///< time of the network relative to that before the present round
  bool complete_ = true;
  int trials_made_ = 0;
};

/// Chooses `wanted` for the steps from `first` to before `last`, as far as the network's results stay right
/// and there is time to check them.
void take_again(LayoutSearch& search, std::span<const size_t> wanted, size_t first, size_t last,
                TacticTrials& trials, const SearchBudget& budget) {
  std::vector<size_t> before;
  bool changes = false;
  for (size_t i = first; i < last; ++i) {
    StepSearch& step = search.steps[i];
    before.push_back(step.chosen);
    if (wanted[i] == step.chosen) continue;
    if (budget.is_over()) {
      step.cut_short = true;
      continue;
    }
    changes = true;
    step.chosen = wanted[i];
  }
  if (!changes) return;
  const std::string wrong = trials.mistake_of(search.layout, search.plans());
  if (wrong.empty()) return;
  for (size_t i = first; i < last; ++i) search.steps[i].chosen = before[i - first];
  if (last - first == 1) {
    StepSearch& step = search.steps[first];
    step.refusals.push_back({step.candidates[wanted[first]].plan,
                             fmt::format("with the other steps' fastest tactics, {}", wrong)});
    return;
  }
  const size_t middle = first + (last - first) / 2;
  take_again(search, wanted, first, middle, trials, budget);
  take_again(search, wanted, middle, last, trials, budget);
}

}  // namespace

void keep_what_agrees(LayoutSearch& search, const Plans& sound, TacticTrials& trials,
                      const SearchBudget& budget) {
  std::vector<size_t> wanted;
  for (StepSearch& step : search.steps) {
    wanted.push_back(step.chosen);
    const auto right = sound.find(step.keys.front());
    for (size_t k = 0; k < step.candidates.size(); ++k) {
      if (!step.cached && right != sound.end() && step.candidates[k].plan == right->second) step.chosen = k;
    }
  }
  take_again(search, wanted, 0, search.steps.size(), trials, budget);
}

bool refine_choices(LayoutSearch& search, TacticTrials& trials, const StartsEarly& early,
                    const SearchBudget& budget, const SearchProgress& progress) {
  Refinement refinement(search, trials, early, budget, progress);
  while (refinement.improve()) {
  }
  return refinement.is_complete();
}

}  // namespace hone::engine
