// `hone diff A B`: explains why one recording of a model is faster than another; with --accuracy, finds the
// layers where two forms of a model give different numbers.
#include <fmt/core.h>

#include <memory>

#include "analysis/questions/trace_diff.hpp"
#include "bench/results/model_names.hpp"
#include "cli/command.hpp"
#include "cli/diff_accuracy.hpp"
#include "cli/option_checks.hpp"
#include "cli/terminal.hpp"
#include "cli/trace_argument.hpp"
#include "record/layer_files.hpp"
#include "report/terminal/diff_tables.hpp"
#include "report/terminal/trace_tables.hpp"
#include "system/cpu.hpp"

namespace hone::cli {
namespace {

struct Options {
  AccuracyDiffOptions both;
  bool accuracy = false;
  OptionList for_accuracy;
};

void print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{}\n", line);
}

struct Side {
  analysis::DiffSide side;
  decltype(trace::Trace::doubts) doubts;
};

/// Opens a trace, or a folder of layer files.
Side open_side(const std::string& path) {
  if (record::holds_layer_files(path)) return {record::read_layer_files(path), {}};
  const trace::Trace trace = open_given_trace(path);
  return {analysis::diff_side(trace, analysis::find_steps(trace)), trace.doubts};
}

void add_doubt(const analysis::Estimate& recorded, const trace::RecordingCost& plain, Side* side) {
  if (const auto doubt = analysis::iteration_doubt(recorded, plain)) side->doubts.push_back(*doubt);
}

void run(const Options& all) {
  const AccuracyDiffOptions& options = all.both;
  if (all.accuracy) return diff_accuracy(options);
  refuse_given(all.for_accuracy, "is for --accuracy");
  refuse_other_comparisons(options.a, options.b);
  Side a = open_side(options.a);
  Side b = open_side(options.b);
  const std::string& model_a = a.side.recorded.model;
  const std::string& model_b = b.side.recorded.model;
  if (!model_a.empty() && !model_b.empty() && !bench::same_model(model_a, model_b))
    fail_usage("A is of {} and B of {}; only recordings of one model can be compared", model_a, model_b);
  const analysis::TraceDiff diff = analysis::compare_traces(a.side, b.side);
  if (options.json) {
    fmt::print("{}\n", to_json(diff).dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  if (diff.contradictory()) {
    add_doubt(diff.iteration_a, *diff.plain_a, &a);
    add_doubt(diff.iteration_b, *diff.plain_b, &b);
  }
  const report::SheetStyle style = terminal_style(options.rows);
  for (const auto& [name, path, side] : {std::tuple("A", &options.a, &a), std::tuple("B", &options.b, &b)}) {
    if (options.csv) break;
    fmt::print("{}: {}\n", name, *path);
    print(report::doubt_text(side->doubts, style.width));
  }
  for (const report::Sheet& sheet : report::diff_sheets(diff)) {
    if (!options.csv) fmt::print("\n");
    print(options.csv ? report::sheet_csv(sheet) : report::sheet_text(sheet, style));
  }
}

}  // namespace

void add_diff_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "diff", "Compare two traces of a model, or the accuracy of two engines layer by layer");
  const auto all = std::make_shared<Options>();
  AccuracyDiffOptions& options = all->both;
  command
      ->add_option("a", options.a,
                   "A trace, or a folder with TensorRT's layer files; with --accuracy an engine or a model")
      ->required();
  command->add_option("b", options.b, "Another one of the same model")->required();
  command->add_flag("--accuracy", all->accuracy,
                    "Compare the outputs of all layers, as they are fused, and name the first that differs");
  options.threads = system::usable_cores();
  all->for_accuracy = {
      command->add_option("--input", options.inputs,
                          "For --accuracy: .npy, .npz or images, as hone run takes them"),
      command->add_option(
          "--reference", options.reference,
          "The model in floating point, to show the error that each layer adds by itself (default: A or B)"),
      command
          ->add_option("--tolerance", options.tolerance,
                       "Relative error above which a layer differs; the exit code is 5 then (default: 1e-4 "
                       "for fp32, 0.05 for fp16, 0.2 for bf16, 0.1 for int8, with exit code 0)")
          ->check(finite_range(0, 1e9)),
      command->add_option("--threads", options.threads, "Threads of the engines")->check(CLI::Range(1, 1024)),
  };
  for (const CLI::Option* option : add_image_options(*command, options.images))
    all->for_accuracy.push_back(option);
  command->add_option("--rows", options.rows, "Rows to show of a table; 0 for all")->capture_default_str();
  auto* json = command->add_flag("--json", options.json, "Print all results as JSON");
  command->add_flag("--csv", options.csv, "Print tables as CSV with plain numbers")->excludes(json);
  command->callback([all] { run(*all); });
}

}  // namespace hone::cli
