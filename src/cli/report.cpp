// `hone report DIR… -o FILE`: writes benchmarks and traces as one HTML page.
#include <fmt/core.h>

#include <memory>

#include "base/file.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "report/page/page.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output = "report.html";
};

std::string many(size_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

void run(const Options& options) {
  base::check_writable(options.output);
  const report::RunFiles files = report::find_run_files(options.inputs);
  for (const report::RunFile& file : files.files) refuse_overwriting(options.output, {file.path.string()});
  refuse_other_kind(options.output, ".html", "page");
  const report::Report report = report::make_report(files);
  for (const report::ReportProblem& problem : report.problems)
    fmt::print(stderr, "hone: {}\n", report::printable(problem.text));
  if (report.sweeps.empty() && report.profiles.empty() && report.partitions.empty() &&
      report.pipelines.empty()) {
    if (!report.problems.empty())
      throw Error(ErrorKind::kBadInput, "no file could be read, so there is no report");
    fail_bad_input("found no benchmark results, no traces, no partitions and no pipelines in {}",
                   fmt::join(options.inputs, ", "));
  }
  const std::string page = report::page_with(report);
  base::write_file_atomic(options.output, page);
  const std::string comparisons =
      report.diffs_left_out == 0
          ? many(report.diffs.size(), "comparison")
          : fmt::format("{} of {} comparisons (hone diff makes any other)", report.diffs.size(),
                        report.diffs.size() + report.diffs_left_out);
  const std::string partitions =
      report.partitions.empty() ? "" : ", " + many(report.partitions.size(), "partition");
  const std::string pipelines =
      report.pipelines.empty() ? "" : ", " + many(report.pipelines.size(), "pipeline");
  fmt::print("{}: {}, {}, {}{}{}; {}\n", options.output, many(report.sweeps.size(), "benchmark"),
             many(report.profiles.size(), "profile"), comparisons, partitions, pipelines,
             base::bytes_text(static_cast<double>(page.size())));
}

}  // namespace

void add_report_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("report", "Write a self-contained HTML report of benchmarks and traces");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("inputs", options->inputs,
                   "Results of hone bench, traces, partitions and pipelines, or folders with them")
      ->required();
  command->add_option("-o,--output", options->output, "The HTML file to write")->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
