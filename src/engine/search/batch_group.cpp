// See batch_group.hpp.
#include "engine/search/batch_group.hpp"

#include <algorithm>
#include <memory>

#include "engine/context.hpp"
#include "engine/search/step_timer.hpp"

namespace hone::engine {
namespace {

/// A challenger must be faster than the incumbent by this factor.
constexpr double kMargin = 0.97;
/// After one sample, groups that are slower than the fastest by this factor are not timed again.
constexpr double kHopeless = 1.5;
constexpr int kRounds = 5;
/// After this number of seconds, no further round is timed.
constexpr double kRoundSeconds = 6;
/// After this share of the remaining budget, no further group is tried.
constexpr double kFirstLookShare = 0.6;

struct Group {
  int64_t images = 0;
  std::unique_ptr<Context> context;
  std::vector<double> times_us;
};

double sample_us(Group& group, const std::vector<tensor::Tensor>& inputs) {
  const auto begin = base::Clock::now();
  group.context->run(inputs);
  return 1e6 * base::seconds_since(begin);
}

std::vector<Group> promising_groups(const Engine& engine, const Device& device,
                                    const std::vector<tensor::Tensor>& inputs, int64_t batch,
                                    const FitsRoom& fits, const SearchBudget& budget, bool& cut_short) {
  std::vector<Group> groups;
  double fastest_us = 1e300;
  for (int64_t images = 0; images < batch; images = std::max<int64_t>(1, images * 2)) {
    if (images > 0 && budget.is_over()) {
      cut_short = true;
      break;
    }
    auto variant = std::make_shared<Engine>(engine);
    variant->micro_batch = images;
    variant->shapes.clear();
    fits([&] {
      Group group{images, std::make_unique<Context>(variant, device, engine.threads), {}};
      // The first run also touches the memory for the first time, so it only shows which sizes are hopeless.
      const double first_us = sample_us(group, inputs);
      fastest_us = std::min(fastest_us, first_us);
      if (images == 0 || first_us <= fastest_us * kHopeless) groups.push_back(std::move(group));
    });
  }
  return groups;
}

}  // namespace

std::optional<BatchGroups> time_batch_groups(const Engine& engine, const Device& device,
                                             const std::vector<tensor::Tensor>& inputs, int64_t batch,
                                             const FitsRoom& fits, const SearchBudget& budget) {
  BatchGroups result;
  std::vector<Group> groups =
      promising_groups(engine, device, inputs, batch, fits, budget.part(kFirstLookShare), result.cut_short);
  if (groups.empty()) return std::nullopt;
  const SearchBudget time = budget.at_most(kRoundSeconds);
  for (int round = 0; round < kRounds && (round < 1 || !time.is_over()); ++round) {
    for (Group& group : groups) group.times_us.push_back(sample_us(group, inputs));
  }
  result.chosen = groups[0].images;
  for (const Group& group : groups) {
    const TimingEntry::Time time{sample_quantile(group.times_us, 0.5), sample_quantile(group.times_us, 0.25),
                                 static_cast<int>(group.times_us.size())};
    result.times[group.images] = time;
    if (time.median_us < result.times.at(result.chosen).median_us * kMargin) result.chosen = group.images;
  }
  return result;
}

}  // namespace hone::engine
