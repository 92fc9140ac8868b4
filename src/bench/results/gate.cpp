// See gate.hpp. As in DuckDB's regression runner, a suspect is measured again before the gate fails.
#include "bench/results/gate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/units.hpp"
#include "bench/results/model_names.hpp"
#include "bench/results/result_file.hpp"

namespace hone::bench {
namespace {

/// Number of repeated measurements that must all agree before the gate fails.
constexpr int kConfirmations = 2;

bool same_configuration(const Setup& a, const Setup& b) {
  return a.backend == b.backend && a.precision == b.precision && a.batch == b.batch &&
         same_model(a.model, b.model);
}

const Run* find_run(const Sweep& sweep, const Setup& setup) {
  const auto found = std::find_if(sweep.runs.begin(), sweep.runs.end(),
                                  [&](const Run& run) { return same_configuration(run.setup, setup); });
  return found == sweep.runs.end() ? nullptr : &*found;
}

/// "net.onnx hone fp32 batch 1 and 3 more".
std::string runs_text(const Sweep& sweep) {
  if (sweep.runs.empty()) return "nothing";
  const std::string first = sweep.runs.front().setup.text();
  return sweep.runs.size() == 1 ? first : fmt::format("{} and {} more", first, sweep.runs.size() - 1);
}

/// Reads a member of a context, which may come from a file with arbitrary content.
std::string text_of(const Json& object, const char* name) {
  const Json member = object.is_object() ? object.value(name, Json()) : Json();
  return member.is_string() ? member.get<std::string>() : "unknown";
}

void require_same_machine(const Sweep& baseline, const Sweep& now) {
  const std::string then_cpu = text_of(baseline.context, "cpu");
  const std::string now_cpu = text_of(now.context, "cpu");
  if (then_cpu != now_cpu) {
    fail_environment("the baseline was measured on '{}', this is '{}'; such times cannot be compared",
                     then_cpu, now_cpu);
  }
}

/// Older sweeps did not record the GPU; their GPU is not checked.
void require_same_gpu(const Sweep& baseline, const Sweep& now) {
  if (!baseline.context.contains("gpu") || !now.context.contains("gpu")) return;
  const std::string then_gpu = text_of(baseline.context["gpu"], "name");
  const std::string now_gpu = text_of(now.context["gpu"], "name");
  if (then_gpu != now_gpu) {
    fail_environment("the baseline was measured on '{}', this is '{}'; such times cannot be compared",
                     then_gpu, now_gpu);
  }
}

/// After the end of the sweep, both sweeps must name their GPU if they could.
void require_known_gpu(const Sweep& baseline, const Sweep& now) {
  const bool on_gpu = std::any_of(now.runs.begin(), now.runs.end(),
                                  [](const Run& run) { return run.measured() && !run.setup.on_cpu(); });
  if (!on_gpu || !baseline.context.contains("gpu") || now.context.contains("gpu")) return;
  fail_environment(
      "the baseline was measured on '{}', and which GPU this is is unknown: NVML did not report it; such "
      "times cannot be compared",
      text_of(baseline.context["gpu"], "name"));
}

base::Ratio slowdown(const Run& then, const Run& now) {
  return base::ratio_of_medians(now.rounds, then.rounds, base::Pairing::kUnpaired);
}

bool proven_above(const base::Ratio& ratio, double max_regression) {
  return ratio.known && ratio.low > 1 + max_regression;
}

std::string describe_ratio(const base::Ratio& ratio) {
  const std::string change = base::change_text(ratio.value - 1);
  if (!ratio.known) return change + " (too few rounds for an interval)";
  return fmt::format("{} ({} to {})", change, base::change_text(ratio.low - 1),
                     base::change_text(ratio.high - 1));
}

std::string device_text(const Setup& setup) {
  return setup.device + (comparable_part(setup, {}).transfers ? " with data transfers" : "") +
         (setup.cold_l2 ? " with a cold L2" : "") +
         (setup.busy > 0 ? fmt::format(" next to {} busy thread{}", setup.busy, setup.busy == 1 ? "" : "s")
                         : "");
}

/// Both setups must be those of one configuration.
void require_same_way(const Setup& then, const Setup& now) {
  if (comparable(then, now, {.model = true})) return;
  if (then.threads != now.threads) {
    fail_environment("{}: the baseline used {} threads, this sweep {}; such times cannot be compared",
                     then.text(), then.threads, now.threads);
  }
  fail_environment("{}: the baseline was measured on {}, this sweep on {}; such times cannot be compared",
                   then.text(), device_text(then), device_text(now));
}

void require_same_shapes(const Sweep& baseline, const Run& then, const Sweep& sweep, const Run& now) {
  const std::string then_shapes = input_shapes(baseline.context, then.setup.model);
  const std::string now_shapes = input_shapes(sweep.context, now.setup.model);
  if (then_shapes.empty() || now_shapes.empty() || then_shapes == now_shapes) return;
  fail_environment(
      "{}: the inputs of the baseline are {}, those of this sweep {}; such times cannot be compared "
      "(--shapes "
      "and --dim choose the shapes)",
      then.setup.text(), then_shapes, now_shapes);
}

GateRow compare_row(const Run& then, const Run& now, double max_regression, const Remeasure& remeasure) {
  GateRow row;
  row.setup = now.setup;
  if (!now.measured()) {
    row.outcome = GateRow::Outcome::kFailed;
    row.sentence = "failed: " + now.failure.value_or("no samples");
    return row;
  }
  const auto undecided = [&](const Run& last) {
    row.outcome = GateRow::Outcome::kUnknown;
    row.sentence = fmt::format("{}: {} in the baseline, {} now", describe_ratio(row.ratio),
                               then.rounds.size(), last.rounds.size());
    return row;
  };
  row.ratio = slowdown(then, now);
  if (!row.ratio.known) return undecided(now);
  while (proven_above(row.ratio, max_regression) && row.confirmations < kConfirmations) {
    const Run again = remeasure(row.setup);
    ++row.confirmations;
    if (!again.measured()) {
      row.outcome = GateRow::Outcome::kFailed;
      row.sentence = "failed when measured again: " + again.failure.value_or("no samples");
      return row;
    }
    row.ratio = slowdown(then, again);
    if (!row.ratio.known) return undecided(again);
  }
  row.sentence = describe_ratio(row.ratio);
  if (proven_above(row.ratio, max_regression)) row.outcome = GateRow::Outcome::kRegressed;
  return row;
}

}  // namespace

bool Gate::passed() const {
  return std::all_of(rows.begin(), rows.end(), [](const GateRow& row) { return row.passed(); });
}

void require_comparable(const Sweep& baseline, const Sweep& now) {
  require_same_machine(baseline, now);
  require_same_gpu(baseline, now);
  bool any = false;
  for (const Run& then : baseline.runs) {
    const Run* run = then.measured() ? find_run(now, then.setup) : nullptr;
    if (run == nullptr) continue;
    any = true;
    require_same_way(then.setup, run->setup);
    require_same_shapes(baseline, then, now, *run);
  }
  if (any) return;
  for (const Run& then : baseline.runs) {
    if (find_run(now, then.setup) != nullptr)
      fail_usage("the baseline has no times of a configuration: {} {}", then.setup.text(),
                 then.failure ? "failed then: " + *then.failure : "has no samples");
  }
  fail_usage("the baseline and this sweep have no configuration in common: it has {}, this sweep {}",
             runs_text(baseline), runs_text(now));
}

Gate compare_with_baseline(const Sweep& baseline, const Sweep& now, double max_regression,
                           const Remeasure& remeasure) {
  require_comparable(baseline, now);
  require_known_gpu(baseline, now);
  Gate gate;
  for (const Run& then : baseline.runs) {
    if (!then.measured()) continue;
    const Run* run = find_run(now, then.setup);
    if (run == nullptr) {
      gate.rows.push_back({then.setup, GateRow::Outcome::kAbsent, {}, 0, "not part of this sweep"});
      continue;
    }
    gate.rows.push_back(compare_row(then, *run, max_regression, remeasure));
  }
  return gate;
}

double parse_share(const std::string& text) {
  std::string_view number = text;
  const bool percent = number.ends_with('%');
  if (percent) number.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) || value < 0) {
    fail_usage("--max-regression '{}' is no share: give 5% or 0.05", text);
  }
  // A user who writes 5 means 5 %, but would get 500 %.
  if (!percent && value >= 1)
    fail_usage("--max-regression '{0}' is neither in per cent nor below 1: write {0}% or {1:g}", text,
               value / 100);
  return percent ? value / 100 : value;
}

}  // namespace hone::bench
