// See run_pairs.hpp.
#include "report/run_pairs.hpp"

#include "base/bootstrap.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "bench/results/result_file.hpp"

namespace hone::report {
namespace {

using bench::RunRecord;

/// Bootstrap draws for all pairs together; one ratio takes up to 20 ms.
constexpr size_t kDraws = 800'000;
constexpr size_t kMostPairs = 500;
/// Limit on the samples of a run that intervals use. More samples hardly narrow them, because rounds differ
/// more than the samples within a round.
constexpr size_t kMostSamples = 2000;

using System = std::pair<std::string, std::string>;

/// The system with which a run took turns, derived for files without sessions; the run's own system if the
/// file does not say.
System company_of(const RunRecord& run) {
  if (!run.speedup || !run.speedup->interleaved) return {run.setup.backend, run.setup.precision};
  return {run.speedup->over.backend, run.speedup->over.precision};
}

bool took_turns(const RunRecord& a, const RunRecord& b) {
  if (a.session && b.session) return a.session == b.session;
  return company_of(a) == company_of(b);
}

/// A run's samples: the median of all of them, and evenly spaced ones for intervals.
struct Samples {
  double median = 0;
  base::Rounds few;
};

Samples samples_of(const RunRecord& run) {
  std::vector<double> all = base::all_samples(run.samples);
  Samples samples;
  samples.few = base::thinned(run.samples, kMostSamples);
  if (!all.empty()) samples.median = base::median(std::move(all));
  return samples;
}

base::Ratio ratio_of(const Samples& numerator, const Samples& denominator, base::Pairing pairing) {
  base::Ratio ratio = base::ratio_of_medians(numerator.few, denominator.few, pairing, kDraws);
  const double correction = numerator.median / denominator.median / ratio.value;
  for (double* const part : {&ratio.value, &ratio.low, &ratio.high}) *part *= correction;
  return ratio;
}

}  // namespace

std::vector<RunPair> compare_pairs(const Json& json) {
  std::vector<RunRecord> runs;
  try {
    bench::SweepRecord sweep = bench::parse_record(json);
    check_samples(sweep);
    runs = std::move(sweep.runs);
  } catch (const Error&) {
    return {};  // the page reports what the file lacks
  }
  std::vector<Samples> samples;
  for (const RunRecord& run : runs) samples.push_back(samples_of(run));
  std::vector<RunPair> pairs;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < i && pairs.size() < kMostPairs; ++j) {
      const RunRecord& run = runs[i];
      const RunRecord& over = runs[j];
      if (!run.measured() || !over.measured() || !bench::comparable(run.setup, over.setup, {.system = true}))
        continue;
      const bool interleaved = took_turns(run, over);
      const auto pairing = interleaved ? base::Pairing::kPaired : base::Pairing::kUnpaired;
      const base::Ratio ratio = ratio_of(samples[j], samples[i], pairing);
      pairs.push_back({run.setup, bench::SpeedupFigure::of({over.setup.backend, over.setup.precision}, ratio,
                                                           interleaved)});
    }
  }
  return pairs;
}

}  // namespace hone::report
