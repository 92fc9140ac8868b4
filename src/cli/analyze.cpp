// `hone analyze`: prints what the analyses find in a trace, as tables, JSON or CSV.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/log_file.hpp"
#include "cli/terminal.hpp"
#include "cli/trace_argument.hpp"
#include "report/answers.hpp"
#include "report/terminal/path_tables.hpp"
#include "report/terminal/trace_tables.hpp"
#include "trace/recording_cost.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::string trace;
  std::vector<std::string> only;
  std::string steps;
  bool json = false;
  bool csv = false;
  size_t rows = 20;
  bool rows_given = false;
  bool full = false;
  std::string log_file;
  analysis::AnalyzeOptions analysis;
};

std::vector<report::Sheet> dependencies(const report::Answers& answers) {
  const report::DependencyAnswers& dependencies = answers.dependencies();
  return report::dependency_sheets(dependencies.path, dependencies.what_if);
}

std::vector<report::Sheet> layers(const report::Answers& answers) {
  const report::LayerAnswers layers = answers.layers();
  std::vector<report::Sheet> sheets = report::layer_sheets(layers.table);
  for (report::Sheet& sheet : report::layer_thread_sheets(layers.threads)) sheets.push_back(std::move(sheet));
  return sheets;
}

/// One section of the answer; its name is that of the field in the JSON output. The text output shows `text`
/// if there is one, else the sheets.
struct Section {
  std::string_view name;
  std::vector<report::Sheet> (*sheets)(const report::Answers&);
  std::vector<std::string> (*text)(const report::Answers&, size_t width) = nullptr;
};

constexpr std::array<Section, 11> kSections = {{
    {"summary", [](const report::Answers& a) { return report::summary_sheets(a.analyses().summary); }},
    {"steps", [](const report::Answers& a) { return report::step_sheets(a.analyses().steps); }},
    {"gpu", [](const report::Answers& a) { return report::gpu_sheets(a.analyses().gpu); }},
    {"metrics", [](const report::Answers& a) { return report::metric_sheets(a.metrics()); }},
    {"layers", layers},
    {"dependencies", dependencies},
    {"idle", [](const report::Answers& a) { return report::idle_sheets(a.idle()); }},
    {"operators", [](const report::Answers& a) { return report::operator_sheets(a.analyses().operators); }},
    {"transfers", [](const report::Answers& a) { return report::transfer_sheets(a.analyses().transfers); }},
    {"memory",
     [](const report::Answers& a) { return report::memory_sheets(a.analyses().memory, a.origin()); }},
    {"advice", [](const report::Answers& a) { return report::advice_sheets(a.analyses().advice); },
     [](const report::Answers& a, size_t width) {
       return report::advice_text(a.analyses().advice, a.origin(), width);
     }},
}};

/// Sections of the brief form, in this order; --full shows the rest.
constexpr std::array<std::string_view, 5> kBrief = {"advice", "layers", "steps", "summary", "operators"};
constexpr size_t kBriefRows = 5;

bool is_brief(const Options& options) {
  return !options.full && options.only.empty() && !options.json && !options.csv;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  return names;
}

bool wanted(const Section& section, const Options& options) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), section.name) != options.only.end();
}

/// Parses one end of FIRST:LAST; returns `otherwise` for an empty part.
size_t step_number(const std::string& part, size_t otherwise, const std::string& whole) {
  if (part.empty()) return otherwise;
  size_t number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc() || end != part.data() + part.size())
    fail_usage("--steps is written FIRST:LAST, as in 2:5, not '{}'", whole);
  return number;
}

void choose_steps(const std::string& text, analysis::AnalyzeOptions* options) {
  if (text.empty()) return;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) fail_usage("--steps is written FIRST:LAST, as in 2:5, not '{}'", text);
  options->first_step = step_number(text.substr(0, colon), 0, text);
  options->last_step = step_number(text.substr(colon + 1), std::numeric_limits<size_t>::max(), text);
}

std::string json_text(const Options& options, const report::Answers& answers) {
  // Names come from files and need not be valid UTF-8.
  return to_json(answers, options.only).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void append_block(std::string* text, const std::vector<std::string>& lines) {
  if (!text->empty()) *text += "\n";
  for (const std::string& line : lines) *text += line + "\n";
}

/// The CSV output begins with the doubts as a table, as the other formats begin with them too.
std::string csv_text(const Options& options, const report::Answers& answers) {
  report::Sheet doubts{"Doubts", {{"Severity"}, {"About"}, {"Text"}, {"Count"}}, {}, {}};
  for (const trace::Doubt& doubt : answers.trace().doubts)
    doubts.rows.push_back({report::text_cell(std::string(analysis::severity_name(doubt.severity))),
                           report::text_cell(doubt.about), report::text_cell(doubt.text),
                           report::count_cell(doubt.count)});
  std::string text;
  append_block(&text, report::sheet_csv(doubts));
  for (const Section& section : kSections) {
    if (!wanted(section, options)) continue;
    for (const report::Sheet& sheet : section.sheets(answers)) append_block(&text, report::sheet_csv(sheet));
  }
  return text;
}

/// Returns an empty text if the trace does not hold the cost of recording.
std::string recording_cost(const trace::Trace& trace) {
  const std::optional<trace::RecordingCost> cost = trace::RecordingCost::of(trace);
  if (!cost) return "";
  constexpr double kNanoseconds = 1e6;
  return fmt::format("Cost of recording: {} (medians: {} as it is, {} recorded)", cost->text,
                     base::time_text(kNanoseconds * cost->plain_ms),
                     base::time_text(kNanoseconds * cost->recorded_ms));
}

struct KindTime {
  double time = 0;
  size_t layers = 0;
};

/// Names the kind of layer that takes most of the time, and the share of the time that reference kernels
/// take. Returns an empty text if there are no layers.
std::string limit_text(const analysis::LayerTable& table) {
  std::map<std::string, KindTime> kinds;
  KindTime plain;
  double sum = 0;
  for (const analysis::Layer& layer : table.layers) {
    KindTime& kind = kinds[layer.kind.empty() ? "layers of unknown kind" : layer.kind];
    kind.time += layer.time.p50;
    ++kind.layers;
    sum += layer.time.p50;
    if (!layer.tactic.starts_with("reference")) continue;
    plain.time += layer.time.p50;
    ++plain.layers;
  }
  if (sum <= 0) return "";
  const auto largest = std::max_element(
      kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  std::string text =
      fmt::format("Bottleneck: {}, {:.0f} % of the time of all layers ({} of {}, {} of {} layers)",
                  largest->first, 100 * largest->second.time / sum, base::time_text(largest->second.time),
                  base::time_text(sum), largest->second.layers, table.layers.size());
  if (plain.layers > 0)
    text += fmt::format("; {} of {} layers run on the plain kernels of the reference, {:.0f} % of the time",
                        plain.layers, table.layers.size(), 100 * plain.time / sum);
  return text;
}

/// True if the section has results to show, not only a sentence that there are none.
bool has_content(std::string_view name, const report::Answers& answers) {
  const trace::Trace& trace = answers.trace();
  if (name == "summary") return !trace.device_events.empty();
  if (name == "layers") return !answers.layers().table.layers.empty();
  if (name == "operators")
    return std::any_of(trace.host_events.begin(), trace.host_events.end(), [](const trace::HostEvent& event) {
      return event.kind == trace::HostKind::kOperator;
    });
  return true;
}

bool used_gpu(const trace::Trace& trace) {
  return !trace.device_events.empty() || !trace.devices.empty() || !trace.kernel_metrics.empty();
}

/// True for sections that are empty if the program used no GPU.
bool is_of_gpu(std::string_view name) { return name == "gpu" || name == "metrics" || name == "transfers"; }

const Section& section_named(std::string_view name) {
  return *std::find_if(kSections.begin(), kSections.end(),
                       [&](const Section& section) { return section.name == name; });
}

/// The sections to show, in order.
std::vector<const Section*> shown_sections(const Options& options, const report::Answers& answers) {
  std::vector<const Section*> shown;
  if (!is_brief(options)) {
    for (const Section& section : kSections) {
      const bool named = !options.only.empty();
      if (wanted(section, options) && (named || !is_of_gpu(section.name) || used_gpu(answers.trace())))
        shown.push_back(&section);
    }
    return shown;
  }
  for (const std::string_view name : kBrief) {
    if (has_content(name, answers)) shown.push_back(&section_named(name));
  }
  return shown;
}

std::string events_text(size_t count, std::string_view kind) {
  return fmt::format("{} {} event{}", count, kind, count == 1 ? "" : "s");
}

std::string people_text(const Options& options, const report::Answers& answers) {
  const size_t rows = is_brief(options) && !options.rows_given ? kBriefRows : options.rows;
  const report::SheetStyle style = options.log_file.empty() ? terminal_style(rows) : file_style(rows);
  const trace::Trace& trace = answers.trace();
  std::vector<std::string> head = {fmt::format(
      "{}: {}, {}, {}", options.trace,
      base::time_text(static_cast<double>(analysis::length(trace::extent(trace)))),
      events_text(trace.host_events.size(), "host"), events_text(trace.device_events.size(), "device"))};
  if (std::string cost = recording_cost(trace); !cost.empty()) head.push_back(std::move(cost));
  for (std::string& line : report::doubt_text(trace.doubts, style.width)) head.push_back(std::move(line));
  if (is_brief(options)) {
    if (std::string limit = limit_text(answers.layers().table); !limit.empty())
      head.push_back(std::move(limit));
  }
  std::string text;
  append_block(&text, head);
  for (const Section* section : shown_sections(options, answers)) {
    if (section->text != nullptr) {
      append_block(&text, section->text(answers, style.width));
      continue;
    }
    for (const report::Sheet& sheet : section->sheets(answers)) append_block(&text, sheet_text(sheet, style));
  }
  if (is_brief(options)) append_block(&text, {"--full shows every part and more rows, --only NAMES some."});
  return text;
}

/// Returns the newest trace in the folder; returns `path` itself if it is a file.
std::string newest_trace(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (!fs::is_directory(path, unknown)) return path;
  std::string newest;
  fs::file_time_type latest = fs::file_time_type::min();
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    const bool trace =
        name.ends_with(".sqlite") || name.ends_with(".trace.json") || name.ends_with(".trace.json.gz");
    if (!trace || !entry.is_regular_file(unknown) || entry.last_write_time(unknown) < latest) continue;
    latest = entry.last_write_time(unknown);
    newest = entry.path().string();
  }
  if (newest.empty())
    fail_bad_input(
        "{}: the folder holds no trace (*.sqlite, *.trace.json, *.pt.trace.json.gz); hone profile "
        "makes one",
        path);
  return newest;
}

void run(Options options) {
  options.trace = newest_trace(options.trace);
  choose_steps(options.steps, &options.analysis);
  check_log(options.log_file, options.trace);
  const report::Answers answers(options.trace, open_given_trace(options.trace), options.analysis);
  write_log(options.log_file, options.json  ? json_text(options, answers)
                              : options.csv ? csv_text(options, answers)
                                            : people_text(options, answers));
}

}  // namespace

void add_analyze_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "analyze", "Analyze a trace: bottleneck, advice, layers, kernels, critical path");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("trace", options->trace,
                   "A trace of hone profile, PyTorch's profiler (JSON, also .gz) or Nsight Systems "
                   "(.sqlite), or a folder, whose newest trace is taken")
      ->required();
  command->add_option("--only", options->only, "Show only these parts, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(section_names()));
  command->add_option(
      "--steps", options->steps,
      "Analyze only iterations FIRST:LAST, counted from 0 without LAST; either may be left out");
  command->add_flag("--full", options->full,
                    "Show every part, not only the limit, the advice and the longest layers");
  const CLI::Option* rows = command->add_option(
      "--rows", options->rows, "Rows to show of a table; 0 for all (default 20; 5 in the brief form)");
  command->add_flag("--base-names", options->analysis.summary.base_names,
                    "Group kernels by function name, without namespaces and template arguments");
  command->add_flag("--by-launch-shape", options->analysis.summary.by_launch_shape,
                    "Group kernels by grid and block, too");
  command->add_flag("--by-input-shapes", options->analysis.by_input_shapes,
                    "Group operators by input shapes, too");
  CLI::Option* json = command->add_flag("--json", options->json, "Print all results as JSON");
  command->add_flag("--csv", options->csv, "Print tables as CSV with plain numbers")->excludes(json);
  command->add_option("--log-file", options->log_file,
                      "Write to this file; %1 is standard output, %2 standard error; in names %p is the "
                      "process id, %h the host, %q{NAME} an environment variable");
  command->callback([options, rows] {
    options->rows_given = rows->count() > 0;
    run(*options);
  });
}

}  // namespace hone::cli
