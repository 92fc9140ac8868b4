// The ratio of two medians with its confidence interval, from samples that were taken in rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::base {

/// Samples of one configuration, one list per round; rounds it did not take part in are empty.
using Rounds = std::vector<std::vector<double>>;

std::vector<double> all_samples(const Rounds& rounds);

enum class Pairing {
  kPaired,    ///< round i of both was measured at about the same time, so they share its disturbances
  kUnpaired,  ///< measured at different times
};

struct Ratio {
  double value = 0;
  double low = 0;  ///< 95 % interval; meaningful when known
  double high = 0;
  /// False for fewer than three rounds of either side: then nothing is known about the noise.
  bool known = false;

  bool contains(double x) const { return low <= x && x <= high; }
};

/// Takes every n-th sample of each round, and one at least, so that about `most` are left in total.
Rounds thinned(const Rounds& rounds, size_t most);

/// median(numerator) / median(denominator) over all samples. The interval is a two-level percentile
/// bootstrap (rounds, then samples within a round; Davison and Hinkley 1997, 3.8), with fixed seed, widened
/// by t / z * sqrt(n / (n - 1)) for few rounds (Hesterberg 2015, "What Teachers Should Know About the
/// Bootstrap").
/// Between 200 and 1000 resamples: chosen so that about `draws` samples are drawn, where 4 million take about
/// a tenth of a second. They draw from thinned() rounds of a side that has more than `draws` / 400 samples.
Ratio ratio_of_medians(const Rounds& numerator, const Rounds& denominator, Pairing pairing,
                       size_t draws = 4'000'000);

}  // namespace hone::base
