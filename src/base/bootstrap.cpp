// See bootstrap.hpp.
#include "base/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.hpp"
#include "base/statistics.hpp"

namespace hone::base {
namespace {

/// With two rounds, an interval would be too wide to be useful (t = 12.7).
constexpr size_t kMinRounds = 3;
constexpr size_t kMaxResamples = 1000;
constexpr size_t kMinResamples = 200;
constexpr uint64_t kSeed = 0x686f6e65;

void keep_common_rounds(Rounds* a, Rounds* b) {
  Rounds common_a;
  Rounds common_b;
  for (size_t i = 0; i < std::min(a->size(), b->size()); ++i) {
    if ((*a)[i].empty() || (*b)[i].empty()) continue;
    common_a.push_back((*a)[i]);
    common_b.push_back((*b)[i]);
  }
  *a = std::move(common_a);
  *b = std::move(common_b);
}

void drop_empty_rounds(Rounds* rounds) {
  std::erase_if(*rounds, [](const std::vector<double>& round) { return round.empty(); });
}

void draw_round(const std::vector<double>& round, Random* random, std::vector<double>* out) {
  for (size_t i = 0; i < round.size(); ++i) out->push_back(round[random->below(round.size())]);
}

double resampled_ratio(const Rounds& a, const Rounds& b, Pairing pairing, Random* random) {
  std::vector<double> samples_a;
  std::vector<double> samples_b;
  if (pairing == Pairing::kPaired) {
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t round = random->below(a.size());
      draw_round(a[round], random, &samples_a);
      draw_round(b[round], random, &samples_b);
    }
  } else {
    for (size_t i = 0; i < a.size(); ++i) draw_round(a[random->below(a.size())], random, &samples_a);
    for (size_t i = 0; i < b.size(); ++i) draw_round(b[random->below(b.size())], random, &samples_b);
  }
  return median(std::move(samples_a)) / median(std::move(samples_b));
}

double widening(size_t rounds) {
  const double n = static_cast<double>(rounds);
  return student_t_975(static_cast<int64_t>(rounds) - 1) / student_t_975(1'000'000) * std::sqrt(n / (n - 1));
}

}  // namespace

std::vector<double> all_samples(const Rounds& rounds) {
  std::vector<double> samples;
  for (const auto& round : rounds) samples.insert(samples.end(), round.begin(), round.end());
  return samples;
}

Rounds thinned(const Rounds& rounds, size_t most) {
  size_t samples = 0;
  for (const auto& round : rounds) samples += round.size();
  const size_t step = std::max((samples + most - 1) / most, size_t{1});
  Rounds few;
  for (const auto& round : rounds) {
    std::vector<double>& kept = few.emplace_back();
    for (size_t i = 0; i < round.size(); i += step) kept.push_back(round[i]);
  }
  return few;
}

Ratio ratio_of_medians(const Rounds& numerator, const Rounds& denominator, Pairing pairing, size_t draws) {
  Ratio ratio;
  std::vector<double> top = all_samples(numerator);
  std::vector<double> bottom = all_samples(denominator);
  if (top.empty() || bottom.empty()) return ratio;
  ratio.value = ratio.low = ratio.high = median(std::move(top)) / median(std::move(bottom));

  // Each side is limited separately, so that many samples of one side do not reduce the few of the other.
  const size_t most = std::max(draws / kMinResamples / 2, size_t{1});
  Rounds a = thinned(numerator, most);
  Rounds b = thinned(denominator, most);
  top = all_samples(a);
  bottom = all_samples(b);
  const size_t samples = top.size() + bottom.size();
  const double center = median(std::move(top)) / median(std::move(bottom));
  if (pairing == Pairing::kPaired) keep_common_rounds(&a, &b);
  drop_empty_rounds(&a);
  drop_empty_rounds(&b);
  const size_t rounds = std::min(a.size(), b.size());
  if (rounds < kMinRounds) return ratio;

  const int resamples = static_cast<int>(std::clamp(draws / samples, kMinResamples, kMaxResamples));
  Random random(kSeed);
  std::vector<double> ratios;
  for (int i = 0; i < resamples; ++i) ratios.push_back(resampled_ratio(a, b, pairing, &random));
  std::sort(ratios.begin(), ratios.end());
  const double widen = widening(rounds);
  const double low = std::min(percentile_of_sorted(ratios, 0.025), center);
  const double high = std::max(percentile_of_sorted(ratios, 0.975), center);
  ratio.low = ratio.value * std::pow(low / center, widen);
  ratio.high = ratio.value * std::pow(high / center, widen);
  ratio.known = true;
  return ratio;
}

}  // namespace hone::base
