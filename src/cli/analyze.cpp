// `hone analyze`: what a trace says, in tables, JSON or CSV.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "analysis/analyze.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/log_file.hpp"
#include "report/path_tables.hpp"
#include "report/trace_tables.hpp"
#include "trace/cut.hpp"
#include "trace/open.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::string trace;
  std::vector<std::string> only;
  std::string steps;
  bool json = false;
  bool csv = false;
  size_t rows = 20;
  std::string log_file;
  analysis::AnalyzeOptions analysis;
};

/// What sections are made from.
struct Answers {
  trace::Trace trace;
  trace::Time origin = 0;  ///< that places in time are counted from
  analysis::Analyses analyses;
  size_t first_step = 0;
  size_t last_step = 0;
  /// The trace in the window of the chosen steps, when there is a choice.
  std::optional<trace::Trace> chosen = std::nullopt;

  const trace::Trace& window() const { return chosen ? *chosen : trace; }
  /// The chosen steps; all of the trace where none were chosen.
  analysis::StepList steps() const {
    return analysis::select_steps(analysis::find_steps(trace), first_step, last_step);
  }
};

Json dependencies_json(const Answers& a) {
  const analysis::EventGraph graph = analysis::build_event_graph(a.window());
  return {{"critical_path", to_json(analysis::critical_path(graph))},
          {"what_if", to_json(analysis::what_if(graph))}};
}

std::vector<report::Sheet> dependencies(const Answers& a) {
  const analysis::EventGraph graph = analysis::build_event_graph(a.window());
  return report::dependency_sheets(analysis::critical_path(graph), analysis::what_if(graph));
}

std::vector<report::Sheet> layers(const Answers& a) {
  std::vector<report::Sheet> sheets = report::layer_sheets(analysis::analyze_layers(a.trace, a.steps()));
  for (report::Sheet& sheet : report::layer_thread_sheets(analysis::analyze_layer_threads(a.window())))
    sheets.push_back(std::move(sheet));
  return sheets;
}

Json layers_json(const Answers& a) {
  Json json = to_json(analysis::analyze_layers(a.trace, a.steps()));
  json["threads"] = to_json(analysis::analyze_layer_threads(a.window()));
  return json;
}

/// One part of the answer. Without `text`, its sheets are what people see.
struct Section {
  std::string_view name;
  std::vector<report::Sheet> (*sheets)(const Answers&);
  Json (*json)(const Answers&);
  std::vector<std::string> (*text)(const Answers&, size_t width) = nullptr;
};

constexpr std::array<Section, 10> kSections = {{
    {"summary", [](const Answers& a) { return report::summary_sheets(a.analyses.summary); },
     [](const Answers& a) { return to_json(a.analyses.summary); }},
    {"steps", [](const Answers& a) { return report::step_sheets(a.analyses.steps); },
     [](const Answers& a) { return to_json(a.analyses.steps); }},
    {"gpu", [](const Answers& a) { return report::gpu_sheets(a.analyses.gpu); },
     [](const Answers& a) { return to_json(a.analyses.gpu); }},
    {"layers", layers, layers_json},
    {"dependencies", dependencies, dependencies_json},
    {"idle", [](const Answers& a) { return report::idle_sheets(analysis::idle_time(a.window())); },
     [](const Answers& a) { return to_json(analysis::idle_time(a.window())); }},
    {"operators", [](const Answers& a) { return report::operator_sheets(a.analyses.operators); },
     [](const Answers& a) { return to_json(a.analyses.operators); }},
    {"transfers", [](const Answers& a) { return report::transfer_sheets(a.analyses.transfers); },
     [](const Answers& a) { return to_json(a.analyses.transfers); }},
    {"memory", [](const Answers& a) { return report::memory_sheets(a.analyses.memory, a.origin); },
     [](const Answers& a) { return to_json(a.analyses.memory); }},
    {"advice", [](const Answers& a) { return report::advice_sheets(a.analyses.advice); },
     [](const Answers& a) { return to_json(a.analyses.advice); },
     [](const Answers& a, size_t width) { return report::advice_text(a.analyses.advice, a.origin, width); }},
}};

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  return names;
}

bool wanted(const Section& section, const Options& options) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), section.name) != options.only.end();
}

/// The number, or what an empty part stands for.
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

/// What fits the terminal; tables of numbers need some width and gain nothing from more.
size_t output_width() {
  constexpr size_t kUsual = 120;
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return kUsual;
  return std::clamp<size_t>(size.ws_col, 80, 160);
}

Json doubts_json(const std::vector<trace::Doubt>& doubts) {
  constexpr std::array<std::string_view, 3> kNames = {"note", "doubt", "loss"};
  Json json = Json::array();
  for (const trace::Doubt& doubt : doubts)
    json.push_back({{"severity", kNames.at(static_cast<size_t>(doubt.severity))},
                    {"about", doubt.about},
                    {"text", doubt.text},
                    {"count", doubt.count}});
  return json;
}

std::string json_text(const Options& options, const Answers& answers) {
  Json json = {{"schema", "hone.analysis"}, {"version", 1}, {"trace", options.trace}};
  json["doubts"] = doubts_json(answers.trace.doubts);
  for (const Section& section : kSections) {
    if (wanted(section, options)) json[std::string(section.name)] = section.json(answers);
  }
  // Names come from files, and need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void append_block(std::string* text, const std::vector<std::string>& lines) {
  if (!text->empty()) *text += "\n";
  for (const std::string& line : lines) *text += line + "\n";
}

/// Doubts come first here, too: as a table.
std::string csv_text(const Options& options, const Answers& answers) {
  report::Sheet doubts{"Doubts", {{"Severity"}, {"About"}, {"Text"}, {"Count"}}, {}, {}};
  for (const Json& doubt : doubts_json(answers.trace.doubts))
    doubts.rows.push_back({report::text_cell(doubt["severity"]), report::text_cell(doubt["about"]),
                           report::text_cell(doubt["text"]), report::count_cell(doubt["count"])});
  std::string text;
  append_block(&text, report::sheet_csv(doubts));
  for (const Section& section : kSections) {
    if (!wanted(section, options)) continue;
    for (const report::Sheet& sheet : section.sheets(answers)) append_block(&text, report::sheet_csv(sheet));
  }
  return text;
}

std::string people_text(const Options& options, const Answers& answers) {
  const report::SheetStyle style{options.log_file.empty() ? output_width() : report::SheetStyle().width,
                                 options.rows == 0 ? std::numeric_limits<size_t>::max() : options.rows};
  const trace::Trace& trace = answers.trace;
  std::vector<std::string> head = {
      fmt::format("{}: {}, {} host events, {} device events", options.trace,
                  base::time_text(static_cast<double>(analysis::length(trace::extent(trace)))),
                  trace.host_events.size(), trace.device_events.size())};
  for (std::string& line : report::doubt_text(trace.doubts, style.width)) head.push_back(std::move(line));
  std::string text;
  append_block(&text, head);
  for (const Section& section : kSections) {
    if (!wanted(section, options)) continue;
    if (section.text != nullptr) {
      append_block(&text, section.text(answers, style.width));
      continue;
    }
    for (const report::Sheet& sheet : section.sheets(answers)) append_block(&text, sheet_text(sheet, style));
  }
  return text;
}

void run(Options options) {
  choose_steps(options.steps, &options.analysis);
  check_log(options.log_file);
  Answers answers{
      trace::open_trace(options.trace), 0, {}, options.analysis.first_step, options.analysis.last_step};
  answers.origin = trace::extent(answers.trace).start;
  answers.analyses = analysis::analyze(answers.trace, options.analysis);
  if (!options.steps.empty()) {
    answers.chosen = answers.trace;
    trace::cut(*answers.chosen, {analysis::window_of(answers.steps())});
  }
  write_log(options.log_file, options.json  ? json_text(options, answers)
                              : options.csv ? csv_text(options, answers)
                                            : people_text(options, answers));
}

}  // namespace

void add_analyze_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("analyze", "Say where the time of a trace went, and what to do about it");
  const auto options = std::make_shared<Options>();
  command
      ->add_option(
          "trace", options->trace,
          "A trace of hone profile, of PyTorch's profiler (JSON, also .gz) or of Nsight Systems (.sqlite)")
      ->required();
  command->add_option("--only", options->only, "Only these parts, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(section_names()));
  command->add_option(
      "--steps", options->steps,
      "Only these steps: FIRST:LAST, counted from 0, LAST not included; either may be left out");
  command->add_option("--rows", options->rows, "Rows of a table that are shown; 0 for all")
      ->capture_default_str();
  command->add_flag("--base-names", options->analysis.summary.base_names,
                    "Kernels by the function's own name, without namespaces and template arguments");
  command->add_flag("--by-launch-shape", options->analysis.summary.by_launch_shape,
                    "Kernels also by grid and block");
  command->add_flag("--by-input-shapes", options->analysis.by_input_shapes, "Operators also by input shapes");
  CLI::Option* json = command->add_flag("--json", options->json, "Everything, as JSON");
  command->add_flag("--csv", options->csv, "Tables as CSV, with plain numbers")->excludes(json);
  command->add_option(
      "--log-file", options->log_file,
      "Write there: a file, %1 standard output, %2 standard error; in names %p is the process, %h "
      "the host, %q{NAME} an environment variable");
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
