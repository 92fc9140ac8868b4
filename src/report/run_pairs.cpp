// See run_pairs.hpp.
#include "report/run_pairs.hpp"

#include "base/bootstrap.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "bench/results/results.hpp"

namespace hone::report {
namespace {

using bench::Run;

/// A ratio takes some milliseconds, up to 20.
constexpr size_t kDraws = 800'000;
constexpr size_t kMostPairs = 500;
/// Of a run, for intervals: more hardly narrow them, since rounds differ by more than their samples.
constexpr size_t kMostSamples = 2000;

struct System {
  std::string backend;
  std::string precision;
  bool operator==(const System&) const = default;
};

System system_of(const Run& run) { return {run.setup.backend, run.setup.precision}; }

/// What a run took turns with, as files without sessions let guess: itself where they say nothing.
System company_of(const Run& run, const Json& json) {
  const Json speedup = json.value("speedup", Json());
  if (!speedup.is_object() || speedup.value("interleaved", Json()) != true) return system_of(run);
  const Json over = speedup.value("over", Json());
  if (!over.is_object()) return system_of(run);
  const auto text = [&](const char* key) {
    const Json value = over.value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return {text("backend"), text("precision")};
}

bool took_turns(const Run& a, const Json& a_json, const Run& b, const Json& b_json) {
  if (a.session && b.session) return a.session == b.session;
  return company_of(a, a_json) == company_of(b, b_json);
}

/// A run's samples: the median of all, and evenly spaced ones for intervals.
struct Samples {
  double median = 0;
  base::Rounds few;
};

Samples samples_of(const Run& run) {
  std::vector<double> all = base::all_samples(run.rounds);
  Samples samples;
  samples.few = base::thinned(run.rounds, kMostSamples);
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
  std::vector<Run> runs;
  try {
    runs = bench::parse_sweep(json).runs;
  } catch (const Error&) {
    return {};  // the page says what is missing in the file
  }
  std::vector<Samples> samples;
  for (const Run& run : runs) samples.push_back(samples_of(run));
  std::vector<RunPair> pairs;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < i && pairs.size() < kMostPairs; ++j) {
      const Run& run = runs[i];
      const Run& over = runs[j];
      if (!run.measured() || !over.measured() || !bench::comparable(run.setup, over.setup, {.system = true}))
        continue;
      const bool interleaved = took_turns(run, json["runs"][i], over, json["runs"][j]);
      const auto pairing = interleaved ? base::Pairing::kPaired : base::Pairing::kUnpaired;
      const base::Ratio ratio = ratio_of(samples[j], samples[i], pairing);
      pairs.push_back({run.setup, {over.setup.backend, over.setup.precision, ratio, interleaved}});
    }
  }
  return pairs;
}

}  // namespace hone::report
