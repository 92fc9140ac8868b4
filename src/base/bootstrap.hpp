// The ratio of two medians with its confidence interval, from samples that were taken in rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::base {

/// Samples of one configuration, one list for each round; a round is empty if the configuration did not take
/// part in it.
using Rounds = std::vector<std::vector<double>>;

std::vector<double> all_samples(const Rounds& rounds);

enum class Pairing {
  kPaired,    ///< round i of both was measured at about the same time, so disturbances affect both
  kUnpaired,  ///< measured at different times
};

struct Ratio {
  double value = 0;
  double low = 0;  ///< 95 % interval; valid only if `known`
  double high = 0;
  /// False if either side has fewer than three rounds; the noise is unknown then.
  bool known = false;

  bool contains(double x) const { return low <= x && x <= high; }
};

/// Takes every n-th sample of each round, at least one, so that about `most` samples remain in total.
Rounds thinned(const Rounds& rounds, size_t most);

/// Returns median(numerator) / median(denominator) over all samples. The interval is a two-level percentile
/// bootstrap (rounds, then samples within a round; Davison and Hinkley 1997, 3.8) with a fixed seed, widened
/// by t / z * sqrt(n / (n - 1)) for few rounds (Hesterberg 2015, "What Teachers Should Know About the
/// Bootstrap"). The number of resamples is 200 to 1000, so that about `draws` samples are drawn in total; 4
/// million take about a tenth of a second. If a side has more than `draws` / 400 samples, its thinned()
/// rounds are used.
Ratio ratio_of_medians(const Rounds& numerator, const Rounds& denominator, Pairing pairing,
                       size_t draws = 4'000'000);

}  // namespace hone::base
