// `hone diff A B`: why one recording of a model is faster than another.
#include <fmt/core.h>

#include <memory>

#include "analysis/questions/trace_diff.hpp"
#include "bench/results/results.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "report/terminal/diff_tables.hpp"
#include "report/terminal/trace_tables.hpp"
#include "trace/open.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::string a;
  std::string b;
  bool json = false;
  bool csv = false;
  size_t rows = 20;
};

void print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{}\n", line);
}

void run(const Options& options) {
  const trace::Trace a = trace::open_trace(options.a);
  const trace::Trace b = trace::open_trace(options.b);
  const std::string model_a = analysis::Recorded::of(a).model;
  const std::string model_b = analysis::Recorded::of(b).model;
  if (!model_a.empty() && !model_b.empty() && !bench::same_model(model_a, model_b))
    fail_usage("A is of {} and B of {}; only recordings of one model can be compared", model_a, model_b);
  const analysis::TraceDiff diff = analysis::compare_traces(analysis::diff_side(a, analysis::find_steps(a)),
                                                            analysis::diff_side(b, analysis::find_steps(b)));
  if (options.json) {
    fmt::print("{}\n", to_json(diff).dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  const report::SheetStyle style = terminal_style(options.rows);
  for (const auto& [name, path, trace] : {std::tuple("A", &options.a, &a), std::tuple("B", &options.b, &b)}) {
    if (options.csv) break;
    fmt::print("{}: {}\n", name, *path);
    print(report::doubt_text(trace->doubts, style.width));
  }
  for (const report::Sheet& sheet : report::diff_sheets(diff)) {
    if (!options.csv) fmt::print("\n");
    print(options.csv ? report::sheet_csv(sheet) : report::sheet_text(sheet, style));
  }
}

}  // namespace

void add_diff_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("diff", "Say why one recording of a model is faster than another");
  const auto options = std::make_shared<Options>();
  command->add_option("a", options->a, "A trace")->required();
  command->add_option("b", options->b, "Another one of the same model")->required();
  command->add_option("--rows", options->rows, "Rows of a table that are shown; 0 for all")
      ->capture_default_str();
  auto* json = command->add_flag("--json", options->json, "Everything, as JSON");
  command->add_flag("--csv", options->csv, "Tables as CSV, with plain numbers")->excludes(json);
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
