// See run_pairs.hpp.
#include "report/run_pairs.hpp"

#include "base/bootstrap.hpp"
#include "base/error.hpp"
#include "bench/results.hpp"

namespace hone::report {
namespace {

using bench::Run;

/// A ratio takes some milliseconds.
constexpr size_t kDraws = 400'000;

struct System {
  std::string backend;
  std::string precision;
  bool operator==(const System&) const = default;
};

System system_of(const Run& run) { return {run.configuration.backend, run.configuration.precision}; }

/// What a run took turns with, as the file says: itself where it says nothing.
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

bool comparable(const Run& a, const Run& b) {
  return a.configuration.model == b.configuration.model && a.configuration.batch == b.configuration.batch &&
         a.device == b.device && a.transfers == b.transfers && a.cold_l2 == b.cold_l2 &&
         a.threads == b.threads;
}

}  // namespace

std::vector<RunPair> compare_pairs(const Json& json) {
  std::vector<Run> runs;
  try {
    runs = bench::parse_sweep(json).runs;
  } catch (const Error&) {
    return {};  // the page says what is missing in the file
  }
  std::vector<RunPair> pairs;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Run& run = runs[i];
      const Run& over = runs[j];
      if (!run.measured() || !over.measured() || !comparable(run, over)) continue;
      const bool interleaved = company_of(run, json["runs"][i]) == company_of(over, json["runs"][j]);
      const auto pairing = interleaved ? base::Pairing::kPaired : base::Pairing::kUnpaired;
      const base::Ratio ratio = base::ratio_of_medians(over.rounds, run.rounds, pairing, kDraws);
      pairs.push_back({run.configuration,
                       run.transfers,
                       run.cold_l2,
                       {over.configuration.backend, over.configuration.precision, ratio, interleaved}});
    }
  }
  return pairs;
}

}  // namespace hone::report
