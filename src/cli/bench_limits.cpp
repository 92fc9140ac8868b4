// See bench_limits.hpp.
#include "cli/bench_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/results/gate.hpp"
#include "system/interruption.hpp"

namespace hone::cli {
namespace {

bool has_input(const importer::Model& model, const std::string& name) {
  if (model.graph == nullptr) return true;  // A TorchScript archive does not list its inputs.
  const auto& inputs = model.graph->inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](graph::ValueId id) { return model.graph->value(id).name == name; });
}

/// Measures one configuration again, in a sweep with only this configuration.
bench::Run remeasure(const bench::SweepOptions& options, const bench::Peers& peers,
                     const bench::Setup& setup) {
  bench::SweepOptions one = options;
  one.models = {setup.model};
  one.backends = {setup.backend};
  one.precisions = {setup.precision};
  one.batches = {setup.batch};
  if (options.models.size() > 1) {
    const importer::Model model = options.load_model(setup.model);
    std::erase_if(one.shapes, [&](const auto& shape) { return !has_input(model, shape.first); });
  }
  bench::Sweep sweep = bench::run_sweep(one, peers, {}, &system::interruption());
  system::throw_if_interrupted();
  return sweep.runs.front();
}

const char* outcome_word(const bench::GateRow& row) {
  switch (row.outcome) {
    case bench::GateRow::Outcome::kRegressed: return "REGRESSED";
    case bench::GateRow::Outcome::kFailed: return "FAILED   ";
    case bench::GateRow::Outcome::kUnknown: return "UNKNOWN  ";
    case bench::GateRow::Outcome::kWithin:
    case bench::GateRow::Outcome::kAbsent: break;
  }
  return "ok       ";
}

/// "2 of 3 configurations did not pass the comparison with the baseline: 1 is slower by more than 5%, …".
std::string failed_gate_text(const bench::Gate& gate, const std::string& max_regression) {
  using Outcome = bench::GateRow::Outcome;
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(gate.rows, outcome, &bench::GateRow::outcome);
  };
  std::vector<std::string> parts;
  if (const auto slower = count(Outcome::kRegressed); slower > 0)
    parts.push_back(
        fmt::format("{} {} slower by more than {}", slower, slower == 1 ? "is" : "are", max_regression));
  if (const auto failed = count(Outcome::kFailed); failed > 0)
    parts.push_back(fmt::format("{} failed", failed));
  if (const auto unknown = count(Outcome::kUnknown); unknown > 0)
    parts.push_back(fmt::format("{} {} too few rounds to decide (give more --rounds)", unknown,
                                unknown == 1 ? "has" : "have"));
  const auto passed = std::ranges::count_if(gate.rows, &bench::GateRow::passed);
  return fmt::format("{} of {} configuration{} did not pass the comparison with the baseline: {}",
                     gate.rows.size() - static_cast<size_t>(passed), gate.rows.size(),
                     gate.rows.size() == 1 ? "" : "s", fmt::join(parts, ", "));
}

}  // namespace

void run_gate(const BenchLimits& limits, const bench::SweepOptions& options, const bench::Peers& peers,
              const bench::Sweep& baseline, const bench::Sweep& sweep, BenchScreen* screen) {
  const double limit = bench::parse_share(limits.max_regression);
  const bench::Gate gate =
      bench::compare_with_baseline(baseline, sweep, limit, [&](const bench::Setup& setup) {
        screen->line("measuring again: " + setup.text());
        return remeasure(options, peers, setup);
      });
  for (const bench::GateRow& row : gate.rows)
    screen->line(fmt::format("{}  {}: {}", outcome_word(row), row.setup.text(), row.sentence));
  if (!gate.passed()) throw Error(ErrorKind::kThreshold, failed_gate_text(gate, limits.max_regression));
}

namespace {

/// A run whose error is unknown counts as exceeding the limit.
void check_errors(double limit, const bench::Sweep& sweep) {
  for (const bench::Run& run : sweep.runs) {
    if (!run.measured()) continue;
    if (!run.accuracy.relative_l2)
      throw Error(ErrorKind::kThreshold,
                  fmt::format("the error of {} is not known: {}", run.setup.text(), run.accuracy.reason));
    if (!(*run.accuracy.relative_l2 <= limit))
      throw Error(ErrorKind::kThreshold, fmt::format("the error of {} is {:.1e}, more than --max-error {:g}",
                                                     run.setup.text(), *run.accuracy.relative_l2, limit));
  }
}

}  // namespace

void require_all_measured(const bench::Peers& peers, const bench::Sweep& sweep) {
  std::vector<const bench::Run*> failed;
  for (const bench::Run& run : sweep.runs) {
    if (!run.measured()) failed.push_back(&run);
  }
  if (failed.empty() && !sweep.runs.empty()) return;
  const std::string what =
      failed.size() == sweep.runs.size()
          ? "no configuration could be measured"
          : fmt::format("{} of {} configurations could not be measured", failed.size(), sweep.runs.size());
  const auto bug = std::find_if(failed.begin(), failed.end(), [&](const bench::Run* run) {
    return run->failed_by_bug && !peers.is_external(run->setup.backend);
  });
  if (bug != failed.end()) fail_internal("{}: {}", what, *(*bug)->failure);
  const std::string first = failed.empty() ? "" : failed.front()->failure.value_or("no samples");
  const bool same =
      std::all_of(failed.begin(), failed.end(), [&](const bench::Run* run) { return run->failure == first; });
  fail_environment("{}{}{}", what, same && !first.empty() ? ": " : "", same ? first : "");
}

namespace {

bool is_nothing_measured(const bench::Sweep& sweep) {
  return std::none_of(sweep.runs.begin(), sweep.runs.end(),
                      [](const bench::Run& run) { return run.measured(); });
}

}  // namespace

void judge_sweep(const BenchLimits& limits, const bench::Peers& peers, const bench::Sweep& sweep) {
  if (is_nothing_measured(sweep)) require_all_measured(peers, sweep);
  if (limits.max_error > 0) check_errors(limits.max_error, sweep);
  const auto invalid = std::count_if(sweep.runs.begin(), sweep.runs.end(),
                                     [](const bench::Run& run) { return !run.verdict.valid; });
  if (limits.require_valid && invalid > 0) {
    throw Error(ErrorKind::kThreshold,
                fmt::format("{} of {} runs are not VALID", invalid, sweep.runs.size()));
  }
}

}  // namespace hone::cli
