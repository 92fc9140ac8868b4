// See mixed_precision.hpp.
#include "quantize/mixed_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/clock.hpp"

namespace hone::quantize {
namespace {

/// Limit on the layers that are tried in int8 a second time.
constexpr size_t kMostReturns = 8;

class Chooser {
 public:
  Chooser(const std::vector<Sensitivity>& sensitivities, const LayerTimes& times, const Evaluator& evaluator,
          const WriteMixed& write, const MixedOptions& options)
      : times_(times), evaluator_(evaluator), write_(write), options_(options), order_(sensitivities.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto harm = [&](size_t layer) {
      const double won = times.layers[layer].won();
      return won > 0 ? sensitivities[layer].effect / won : std::numeric_limits<double>::infinity();
    };
    std::ranges::stable_sort(order_, std::ranges::greater{}, harm);
  }

  MixedChoice run() {
    const size_t count = fewest_within_budget();
    size_t chosen = choice_.tried.size() - 1;
    for (size_t i = 0; i < choice_.tried.size(); ++i) {
      if (choice_.tried[i].kept.size() == count) chosen = i;
    }
    choice_.met = is_within(choice_.tried[chosen]);
    if (choice_.met) {
      chosen = with_returns(chosen);
    } else {
      chosen = least_loss();
    }
    finish(chosen);
    return std::move(choice_);
  }

 private:
  bool is_within(const MixedModel& model) const {
    // Rounding may put a share of rows that equals the budget slightly above it.
    return model.accuracy.loss() <= options_.budget * (1 + 1e-9);
  }

  const MixedModel& try_model(std::vector<size_t> kept) {
    std::ranges::sort(kept);
    MixedModel model{kept, evaluator_.accuracy_of(write_(kept)), times_.whole.floating, false};
    for (size_t layer = 0; layer < times_.layers.size(); ++layer) {
      if (!std::ranges::binary_search(kept, layer)) model.time -= times_.layers[layer].won();
    }
    choice_.tried.push_back(std::move(model));
    show();
    return choice_.tried.back();
  }
  const MixedModel& try_first(size_t count) {
    return try_model({order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count)});
  }

  /// The number of layers, in order, that must stay in floating point; all but one if no number is enough.
  size_t fewest_within_budget() {
    const size_t most = order_.size() - 1;
    size_t below = 0;
    if (is_within(try_first(0))) return 0;
    size_t count = std::min<size_t>(1, most);
    while (count < most && !is_within(try_first(count))) {
      below = count;
      count = std::min(2 * count, most);
    }
    if (count == most && (most == 0 || !is_within(try_first(most)))) return most;
    while (count - below > 1) {
      const size_t middle = below + (count - below) / 2;
      (is_within(try_first(middle)) ? count : below) = middle;
    }
    return count;
  }

  /// Tries to return layers of the chosen model to int8 one by one; returns the index of the final model.
  size_t with_returns(size_t chosen) {
    std::vector<size_t> candidates = choice_.tried[chosen].kept;
    std::ranges::sort(candidates, std::ranges::greater{},
                      [&](size_t layer) { return times_.layers[layer].won(); });
    candidates.resize(std::min(candidates.size(), kMostReturns));
    for (const size_t layer : candidates) {
      std::vector<size_t> kept = choice_.tried[chosen].kept;
      // If only one layer went back, the model with that layer in int8 was the first one tried.
      if (times_.layers[layer].won() <= 0 || kept.size() == 1) break;
      std::erase(kept, layer);
      const bool known = std::ranges::any_of(choice_.tried, [&](const auto& m) { return m.kept == kept; });
      if (!known && is_within(try_model(kept))) chosen = choice_.tried.size() - 1;
    }
    return chosen;
  }

  size_t least_loss() const {
    const auto better = [](const MixedModel& a, const MixedModel& b) {
      return std::pair(a.accuracy.loss(), a.time) < std::pair(b.accuracy.loss(), b.time);
    };
    return static_cast<size_t>(std::ranges::min_element(choice_.tried, better) - choice_.tried.begin());
  }

  void finish(size_t chosen) {
    std::vector<MixedModel>& tried = choice_.tried;
    for (MixedModel& model : tried) {
      model.on_front = std::ranges::none_of(tried, [&](const MixedModel& other) {
        const double loss = other.accuracy.loss();
        const double own = model.accuracy.loss();
        return loss <= own && other.time <= model.time && (loss < own || other.time < model.time);
      });
    }
    const std::vector<size_t> kept = tried[chosen].kept;
    std::ranges::stable_sort(tried, {}, &MixedModel::time);
    choice_.chosen = static_cast<size_t>(
        std::ranges::find_if(tried, [&](const MixedModel& model) { return model.kept == kept; }) -
        tried.begin());
  }

  void show() const {
    if (!options_.progress) return;
    base::Progress progress;
    progress.done_seconds = base::seconds_since(begin_);
    progress.left_seconds = std::numeric_limits<double>::infinity();
    progress.doing = fmt::format("accuracy with {} of {} layers in floating point: {:.2f} % lost",
                                 choice_.tried.back().kept.size(), order_.size(),
                                 100 * choice_.tried.back().accuracy.loss());
    options_.progress(progress);
  }

  const LayerTimes& times_;
  const Evaluator& evaluator_;
  const WriteMixed& write_;
  const MixedOptions& options_;
  std::vector<size_t> order_;
  MixedChoice choice_;
  base::Clock::time_point begin_ = base::Clock::now();
};

}  // namespace

MixedChoice choose_mixed(const std::vector<Sensitivity>& sensitivities, const LayerTimes& times,
                         const Evaluator& evaluator, const WriteMixed& write, const MixedOptions& options) {
  return Chooser(sensitivities, times, evaluator, write, options).run();
}

}  // namespace hone::quantize
