// See counters.hpp.
#include "analysis/questions/counters.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/names.hpp"

namespace hone::analysis {
namespace {

/// Rows of Nsight Systems' timeline and metrics of CUPTI, in lower case.
constexpr std::array<std::array<std::string_view, 4>, 4> kParts = {{
    {"gr active", "gr__cycles_active", "", ""},
    {"sms active", "sm__cycles_active", "", ""},
    {"warp occupancy", "warps active", "warps_active", "compute warps in flight"},
    {"tensor active", "tensor pipe", "pipe_tensor", ""},
}};

struct Sum {
  Time last = 0;
  bool seen = false;
  double weighted = 0;
  double time = 0;
  double min = 0;
  double max = 0;
  int64_t samples = 0;
};

}  // namespace

std::vector<CounterMean> mean_counters(const trace::Trace& trace, int32_t device, Span window) {
  std::map<trace::StringId, Sum> sums;
  for (const trace::CounterSample& sample : trace.counter_samples) {
    if (sample.device != device) continue;
    Sum& sum = sums[sample.counter];
    const Time covered = length(overlap({sum.last, sample.time}, window));
    if (sum.seen && covered > 0) {
      sum.weighted += sample.value * static_cast<double>(covered);
      sum.time += static_cast<double>(covered);
      sum.min = sum.samples == 0 ? sample.value : std::min(sum.min, sample.value);
      sum.max = sum.samples == 0 ? sample.value : std::max(sum.max, sample.value);
      ++sum.samples;
    }
    sum.last = sample.time;
    sum.seen = true;
  }
  std::vector<CounterMean> result;
  for (const auto& [id, sum] : sums) {
    if (sum.samples == 0) continue;
    const auto unit = trace.counter_units.find(id);
    result.push_back({trace.text(id), unit == trace.counter_units.end() ? "" : unit->second,
                      sum.weighted / sum.time, sum.min, sum.max, sum.samples});
  }
  std::sort(result.begin(), result.end(),
            [](const CounterMean& a, const CounterMean& b) { return a.name < b.name; });
  return result;
}

std::optional<Figure> measured_share(const std::vector<CounterMean>& counters, CounterRole role) {
  const auto& parts = kParts.at(static_cast<size_t>(role));
  for (const CounterMean& counter : counters) {
    const std::string name = lower_case(counter.name);
    const bool named = std::any_of(parts.begin(), parts.end(), [&name](std::string_view part) {
      return !part.empty() && name.find(part) != std::string::npos;
    });
    if (named && counter.unit == "%") return Figure{counter.mean / 100, Origin::kMeasured, 1};
  }
  return std::nullopt;
}

}  // namespace hone::analysis
