// See bench_table.hpp.
#include "report/terminal/bench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "bench/results/model_names.hpp"
#include "report/terminal/percentile.hpp"
#include "report/terminal/symbols.hpp"
#include "report/terminal/verdict_notes.hpp"

namespace hone::report {
namespace {

using bench::RunRecord;

size_t longest(const std::vector<std::string>& names) {
  size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  return width;
}

/// The number of decimals for at least four significant digits, but no finer than ten microseconds.
int decimals(double value) {
  return value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : value >= 0.1 ? 4 : 5;
}

std::string number(double value) { return fmt::format("{:.{}f}", value, decimals(value)); }

std::string latency_cell(const base::Summary& summary) {
  if (!summary.p50_interval.bounded()) return number(summary.p50);
  const double half = (summary.p50_interval.high - summary.p50_interval.low) / 2;
  return fmt::format("{} {}{:.{}f}", number(summary.p50), plus_minus(), half, decimals(summary.p50));
}

/// Returns the text if it fits into `width`, else the shorter one.
std::string either(const std::string& text, const std::string& shorter, size_t width) {
  return shown_width(text) <= width ? text : shorter;
}

constexpr size_t kTightLatency = 12;
constexpr size_t kTightSpeedup = 11;

/// The latency in fewer characters: three significant digits below 1 ms; the interval is rounded up, and is
/// left out if there is no room.
std::string tight_latency_cell(const base::Summary& summary) {
  const int digits = std::min(decimals(summary.p50), summary.p50 >= 0.1 ? 3 : 4);
  const std::string median = fmt::format("{:.{}f}", summary.p50, digits);
  if (!summary.p50_interval.bounded()) return median;
  const double unit = std::pow(10, -digits);
  const double half = (summary.p50_interval.high - summary.p50_interval.low) / 2;
  const double shown = std::max(0.0, std::ceil(half / unit - 1e-9) * unit);
  return either(fmt::format("{} {}{:.{}f}", median, plus_minus(), shown, digits), median, kTightLatency);
}

std::string percentile_cell(const std::vector<double>& samples, double percent) {
  const auto value = told_percentile(samples, percent);
  return value ? number(*value) : "-";
}

std::string percentile_title(double percent) { return fmt::format("p{:g} ms", percent); }

/// More digits for small ratios, of which two decimals would show little or nothing.
std::string ratio_text(double ratio) { return ratio < 0.1 ? number(ratio) : base::factor_text(ratio); }

/// An interval whose ends differ by this factor says only that the runs were too few or too disturbed.
constexpr double kWideInterval = 100;

std::string speedup_cell(const RunRecord& run) {
  if (!run.speedup || !run.speedup->ratio) return "-";
  const std::string ratio = ratio_text(*run.speedup->ratio);
  if (!run.speedup->interval) return ratio + "x [?]";
  const auto [low, high] = *run.speedup->interval;
  const std::string interval = high >= kWideInterval * low
                                   ? fmt::format("[>{:.0f}x]", kWideInterval)
                                   : fmt::format("[{} {}]", ratio_text(low), ratio_text(high));
  return run.speedup->differs() ? fmt::format("{}x {}", ratio, interval) : "same " + interval;
}

/// The speedup in fewer characters: half of the interval, or "~" if the interval contains 1.
std::string tight_speedup_cell(const RunRecord& run) {
  if (!run.speedup || !run.speedup->ratio) return "-";
  const double ratio = *run.speedup->ratio;
  const int digits = ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 0.1 ? 2 : decimals(ratio);
  const bool same = run.speedup->interval && !run.speedup->differs();
  const std::string text = fmt::format("{}{:.{}f}{}", same ? "~" : "", ratio, digits, same ? "" : "x");
  if (!run.speedup->interval) return text + " [?]";
  const auto [low, high] = *run.speedup->interval;
  if (high >= kWideInterval * low)
    return either(fmt::format("{} >{:.0f}x", text, kWideInterval), text, kTightSpeedup);
  const double half = (high - low) / 2;
  return either(fmt::format("{} {}{:.{}f}", text, plus_minus(), half, digits), text, kTightSpeedup);
}

std::string megabytes_cell(const std::optional<double>& megabytes) {
  return megabytes && *megabytes > 0 ? fmt::format("{:.0f}", *megabytes) : "-";
}

std::string error_cell(const bench::AccuracyFigure& accuracy) {
  return accuracy.relative_l2 ? fmt::format("{:.1e}", *accuracy.relative_l2) : "-";
}

std::string share_cell(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

/// Returns true if a row has an integer precision.
bool has_int8(const std::vector<std::string>& precisions) {
  return std::ranges::any_of(precisions, [](const std::string& name) { return name.starts_with("int8"); });
}

/// "p50 ms, cold L2, 1 busy": the conditions of the latencies that no other column shows.
std::string median_title(const bench::Setup& setup) {
  return fmt::format("p50 ms{}{}", setup.cold_l2 ? ", cold L2" : "",
                     setup.busy > 0 ? fmt::format(", {} busy", setup.busy) : "");
}

/// True if the sweep measures overlapping runs on several streams, which have their own column.
bool overlaps(const BenchForm& form) { return !form.setup.on_cpu() || form.setup.streams > 1; }

std::vector<Column> columns(const BenchForm& form, bool tight) {
  const bool device = !form.setup.on_cpu();
  std::vector<Column> list = {{"model", longest(bench::distinct_names(form.models)), false},
                              {"backend", longest(form.backends), false},
                              {"prec", longest(form.precisions), false},
                              {"batch", 5},
                              {median_title(form.setup), tight ? kTightLatency : 14}};
  for (const double percent : form.percentiles) list.push_back({percentile_title(percent), tight ? 7U : 8U});
  if (device) list.push_back({"device ms", 9});
  list.push_back({tight ? "per s" : "per second", tight ? 7U : 10U});
  if (overlaps(form)) list.push_back({"pipelined", 10});
  list.push_back({"vs " + form.compare_to, tight ? kTightSpeedup : 18});
  list.push_back({device ? "GPU MB" : "peak MB", 7});
  list.push_back({tight ? "error" : "rel error", tight ? 7U : 9U});
  list.push_back({"top-1", 7});
  if (has_int8(form.precisions)) list.push_back({"in int8", 7});
  list.push_back({"verdict", 7, false});
  return list;
}

/// Columns that are left out in narrow terminals, in this order; the model only if there is only one.
constexpr std::string_view kDispensable[] = {"GPU MB",    "peak MB", "top-1",       "model", "pipelined",
                                             "device ms", "per s",   "percentiles", "prec",  "error"};

/// All columns of percentiles count as one.
bool is_titled(const Column& column, std::string_view title) {
  if (title != "percentiles") return column.title == title;
  return column.title.starts_with('p') && column.title.ends_with(" ms") &&
         !column.title.starts_with("p50 ms");
}

/// The p50 of one part of a run.
std::string phase_cell(const std::optional<bench::TimesFigure>& times) {
  return times && times->p50.value_or(0) > 0 ? number(*times->p50) : "-";
}

/// In megabytes: memory of the whole process as reported by the driver, else memory that was allocated since
/// the model was loaded.
std::optional<double> gpu_memory(const RunRecord& run) {
  if (!run.device_memory) return std::nullopt;
  return run.device_memory->process ? run.device_memory->process : run.device_memory->driver;
}

/// Each note once, after the systems that it concerns: "torch fp32, hone fp32: …".
std::vector<std::string> run_notes(std::span<const RunRecord> runs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  std::set<std::string> systems;
  for (const RunRecord& run : runs) {
    const std::string system = run.setup.backend + " " + run.setup.precision;
    systems.insert(system);
    for (const std::string& note : run.notes) {
      auto known = std::ranges::find(notes, note, &std::pair<std::string, std::vector<std::string>>::first);
      if (known == notes.end()) known = notes.insert(notes.end(), {note, {}});
      if (std::ranges::find(known->second, system) == known->second.end()) known->second.push_back(system);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [note, about] : notes) {
    const bool all = about.size() > 1 && about.size() == systems.size();
    lines.push_back(
        fmt::format("{}: {}", all ? "all systems" : fmt::format("{}", fmt::join(about, ", ")), note));
  }
  return lines;
}

std::string prediction_text(const RunRecord& run) {
  const double measured = base::median(base::all_samples(run.samples));
  return fmt::format("{}: predicted {:.3f} ms, measured p50 {:.3f} ms ({})", run.setup.text(), *run.predicted,
                     measured, base::change_text(measured / *run.predicted - 1));
}

}  // namespace

BenchTable::BenchTable(const BenchForm& form, size_t width)
    : names_(bench::short_names(form.models)),
      device_(!form.setup.on_cpu()),
      overlaps_(overlaps(form)),
      int8_(has_int8(form.precisions)),
      percentiles_(form.percentiles),
      table_(fitting(form, width)) {}

Table BenchTable::fitting(const BenchForm& form, size_t width) {
  const Table whole(columns(form, false));
  tight_ = whole.width() > width;
  const std::vector<Column> all = columns(form, tight_);
  shown_.assign(all.size(), true);
  if (!tight_) return whole;
  const auto table = [&] {
    std::vector<Column> list;
    for (size_t i = 0; i < all.size(); ++i) {
      if (shown_[i]) list.push_back(all[i]);
    }
    return Table(list, 1);
  };
  for (const std::string_view title : kDispensable) {
    if (table().width() <= width) break;
    if (title == "model" && form.models.size() > 1) continue;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!is_titled(all[i], title) || (title == "prec" && form.precisions.size() > 1)) continue;
      shown_[i] = false;
      left_out_.push_back(all[i].title);
    }
  }
  return table();
}

std::string BenchTable::row(const RunRecord& run) const {
  const bench::Setup& setup = run.setup;
  const auto name = names_.find(setup.model);
  const std::string model = name == names_.end() ? bench::file_stem(setup.model) : name->second;
  std::vector<std::string> cells = {model, setup.backend, setup.precision, std::to_string(setup.batch)};
  if (!run.measured())
    return table_.row(shown(cells)) + "  FAILED: " + run.failure.value_or("nothing was measured");
  const std::vector<double> samples = base::all_samples(run.samples);
  const base::Summary summary = base::summarize(samples);
  cells.push_back(tight_ ? tight_latency_cell(summary) : latency_cell(summary));
  for (const double percent : percentiles_) cells.push_back(percentile_cell(samples, percent));
  if (device_) cells.push_back(phase_cell(run.device));
  cells.push_back(number(run.throughput.value_or(0)));
  if (overlaps_) cells.push_back(run.pipelined ? number(run.pipelined->throughput) : "-");
  cells.push_back(tight_ ? tight_speedup_cell(run) : speedup_cell(run));
  cells.push_back(megabytes_cell(device_ ? gpu_memory(run) : run.peak_memory));
  cells.push_back(error_cell(run.accuracy));
  cells.push_back(share_cell(run.accuracy.top1_agreement));
  if (int8_) cells.push_back(share_cell(run.int8_share));
  cells.push_back(run.verdict.valid ? "VALID" : "INVALID");
  return table_.row(shown(cells));
}

std::vector<std::string> BenchTable::shown(const std::vector<std::string>& cells) const {
  std::vector<std::string> result;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (shown_[i]) result.push_back(cells[i]);
  }
  return result;
}

std::vector<std::string> bench_notes(const bench::SweepRecord& sweep, const BenchForm& form,
                                     std::span<const std::string> remarks) {
  std::vector<std::string> notes = {fmt::format(
      "p50 {} half its 95 % interval; percentiles where the samples support them; speedup over {} in {} with "
      "95 % interval (same or ~: it holds 1; [?]: too few rounds for one; >100x: its ends "
      "differ by more); "
      "error: relative L2 against the fp32 reference; top-1: samples whose largest output is the "
      "reference's{}.",
      plus_minus(), form.compare_to, form.precisions.front(),
      has_int8(form.precisions) ? "; in int8: the share of the multiply-adds that are multiplied as "
                                  "integers, - where a system does not report it"
                                : "")};
  if (!form.setup.on_cpu()) {
    notes.push_back(fmt::format(
        "p50, p99 and per second: one run at a time, {} data transfers; device ms: p50 by the "
        "GPU's clock; pipelined: per "
        "second with {} stream{} of overlapping runs.",
        form.setup.transfers ? "with" : "without", form.setup.streams, form.setup.streams == 1 ? "" : "s"));
  }
  if (const int busy = form.setup.busy; busy > 0)
    notes.push_back(fmt::format("{} foreign thread{} spun while runs were measured, as --busy asked.", busy,
                                busy == 1 ? "" : "s"));
  for (std::string& note : run_notes(sweep.runs)) notes.push_back(std::move(note));
  std::set<std::string> said;
  const auto say = [&](const std::string& note) {
    if (said.insert(note).second) notes.push_back(note);
  };
  for (const RunRecord& run : sweep.runs) {
    if (!run.measured()) continue;
    if (run.predicted) say(prediction_text(run));
    if (run.int8_share && !has_int8({std::string(run.setup.precision)}))
      say(run.setup.model +
          ": the model is quantized, and its reference as well; hone diff --accuracy compares it with the "
          "model "
          "before quantization");
    if (run.accuracy.reason) say(run.setup.model + ": no accuracy: " + *run.accuracy.reason);
  }
  for (const std::string& remark : remarks) say(remark);
  for (std::string& note : verdict_notes(sweep.runs)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace hone::report
