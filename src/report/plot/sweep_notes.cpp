// See sweep_notes.hpp.
#include "report/plot/sweep_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace hone::report {
namespace {

/// Limit on the names that a note lists.
constexpr size_t kListed = 5;

void each_run(const SweepGroup& group, const std::function<void(const SweepRun&)>& f) {
  for (const SweepSeries& series : group.series) {
    for (const SweepRun& run : series.runs) f(run);
  }
}

std::string run_name(const SweepRun& run) {
  return fmt::format("{} batch {}", run.series(), run.setup.batch);
}

std::vector<std::string> names_of(const SweepGroup& group,
                                  const std::function<bool(const SweepRun&)>& chosen) {
  std::vector<std::string> names;
  each_run(group, [&](const SweepRun& run) {
    if (chosen(run)) names.push_back(run_name(run));
  });
  return names;
}

void add_listed(const char* what, const std::vector<std::string>& names, std::vector<std::string>* notes) {
  if (!names.empty()) notes->push_back(fmt::format("{}: {}.", what, listed(names, kListed)));
}

}  // namespace

std::string listed(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most + 1) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(names.begin(), names.begin() + static_cast<long>(most), ", "),
                     names.size() - most);
}

std::vector<std::string> notes_without_verdicts(const SweepGroup& group) {
  std::vector<std::string> notes;
  std::vector<std::string> failures;
  std::vector<std::string> doubts;
  each_run(group, [&](const SweepRun& run) {
    if (run.failure) failures.push_back(fmt::format("{} ({})", run_name(run), *run.failure));
    for (const std::string& doubt : run.doubts) doubts.push_back(fmt::format("{}: {}", run_name(run), doubt));
  });
  add_listed("Failed", failures, &notes);
  add_listed("Left out, since no such value can be", doubts, &notes);
  notes.insert(notes.end(), group.notes.begin(), group.notes.end());
  return notes;
}

std::vector<std::string> sweep_notes(const SweepGroup& group) {
  std::vector<std::string> notes;
  const std::vector<std::string> measured =
      names_of(group, [](const SweepRun& run) { return run.latency.p50.has_value(); });
  const std::vector<std::string> invalid =
      names_of(group, [](const SweepRun& run) { return run.latency.p50 && !run.verdict.valid; });
  if (!invalid.empty() && invalid.size() == measured.size()) {
    notes.emplace_back("Hollow markers: all runs are INVALID; the result files say why.");
  } else {
    add_listed("INVALID (hollow markers; the result files say why)", invalid, &notes);
  }
  for (std::string& note : notes_without_verdicts(group)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> latency_notes(const SweepGroup& group) {
  std::vector<std::string> notes = sweep_notes(group);
  std::map<std::string, size_t, std::greater<>> ends;
  each_run(group, [&](const SweepRun& run) {
    if (run.spread.p25 && run.spread.top != "p99") ++ends[run.spread.top.empty() ? "p75" : run.spread.top];
  });
  if (ends.empty()) return notes;
  std::vector<std::string> parts;
  for (const auto& [end, count] : ends) parts.push_back(fmt::format("at {} for {}", end, count));
  notes.push_back(fmt::format("Bars of runs with too few samples for p99 end lower: {}.", listed(parts, 3)));
  return notes;
}

std::vector<std::string> speedup_notes(const SweepGroup& group) {
  std::vector<std::string> notes = sweep_notes(group);
  add_listed("No difference, since the interval holds 1",
             names_of(group,
                      [](const SweepRun& run) {
                        return run.speedup && run.speedup->interval && !run.speedup->differs();
                      }),
             &notes);
  add_listed("Too few rounds for an interval",
             names_of(group, [](const SweepRun& run) { return run.speedup && !run.speedup->interval; }),
             &notes);
  add_listed("Not interleaved with its comparison, so drift of the machine may be part of it",
             names_of(group, [](const SweepRun& run) { return run.speedup && !run.speedup->interleaved; }),
             &notes);
  return notes;
}

}  // namespace hone::report
