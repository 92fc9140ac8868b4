// `hone plot`: draws figures of benchmark results and traces as SVG and PNG.
#include <fmt/core.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "backend/registry.hpp"
#include "base/file.hpp"
#include "bench/results/model_names.hpp"
#include "cli/command.hpp"
#include "cli/folder.hpp"
#include "cli/option_checks.hpp"
#include "report/ids.hpp"
#include "report/plot/layout.hpp"
#include "report/plot/painter.hpp"
#include "report/plot/sweep_figures.hpp"
#include "report/plot/trace_figures.hpp"
#include "report/run_files.hpp"
#include "report/terminal/sheet.hpp"
#include "trace/open.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> inputs;
  std::string output = "plots";
  std::string baseline;
  std::vector<std::string> formats = {"svg", "png"};
  double width = report::PlotStyle().width;
  double height = 0;
  double scale = 2;
  std::string theme = "light";
};

/// The data of a trace for waterfalls, and the figures that need only this trace.
struct TracedModel {
  report::TraceLabel label;
  std::string model;  ///< empty if the trace does not name it
  bool baseline = false;
  analysis::DiffSide side;
  std::vector<report::Figure> figures = {};
};

void say(const std::string& sentence) { fmt::print(stderr, "hone: {}\n", report::printable(sentence)); }

/// Cuts names that are too long for a file name.
std::string file_name(const std::string& name) {
  constexpr size_t kLongest = 80;
  return name.substr(0, kLongest);
}

class Plotter {
 public:
  explicit Plotter(const Options& options) : options_(options), painter_(report::painter()) {
    style_.width = options.width;
    if (options.height > 0) style_.height = options.height;
    if (options.theme == "dark") style_.theme = &report::kDarkTheme;
  }

  void draw(report::Figure figure) {
    figure.name = names_.take(file_name(figure.name));
    const report::Scene scene =
        lay_out(figure, style_, [this](const std::string& text, double size, bool bold) {
          return painter_.text_width(text, size, bold);
        });
    for (const std::string& format : options_.formats) {
      const fs::path path = fs::path(options_.output) / (figure.name + "." + format);
      refuse_overwriting(path, options_.inputs);
      base::write_file_atomic(path, format == "svg" ? painter_.svg(scene) : png(scene));
      fmt::print("{}\n", path.string());
    }
    ++drawn_;
  }

  size_t drawn() const { return drawn_; }

 private:
  std::string png(const report::Scene& scene) const {
    // The largest side that cairo can draw, and 400 MB of pixels.
    constexpr double kMostSide = 32767;
    constexpr double kMostPixels = 1e8;
    const double width = scene.width * options_.scale;
    const double height = scene.height * options_.scale;
    if (std::max(width, height) > kMostSide || width * height > kMostPixels)
      fail_usage("a PNG file of {:.0f} x {:.0f} pixels is too large; choose a smaller --scale", width,
                 height);
    return painter_.png(scene, options_.scale);
  }

  const Options& options_;
  const report::Painter& painter_;
  report::PlotStyle style_;
  report::Ids names_;
  size_t drawn_ = 0;
};

/// Calls f. An error in its file is printed, and the other files are still processed.
template <class F>
void reading(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    say(error.what());
  }
}

void plot_sweeps(const std::vector<report::RunFile>& files, Plotter* plotter) {
  std::vector<report::SweepRun> runs;
  for (const report::RunFile& file : files) {
    if (file.kind != report::RunFileKind::kSweep) continue;
    reading([&] {
      for (report::SweepRun& run : report::read_sweep_file(file.path)) runs.push_back(std::move(run));
    });
  }
  for (const report::SweepGroup& group : report::group_runs(runs, backend::backend_names())) {
    const std::vector<report::Figure> figures = report::sweep_figures(group);
    if (figures.empty()) say(fmt::format("{}: no run has anything to plot", group.name));
    for (const report::Figure& figure : figures) plotter->draw(figure);
  }
}

TracedModel read_trace(const fs::path& path, const std::string& name) {
  const trace::Trace trace = trace::open_trace(path);
  const analysis::StepList steps = analysis::find_steps(trace);
  const auto model = trace.metadata.find("model");
  TracedModel traced{report::label_trace(trace, name),
                     model == trace.metadata.end() ? "" : bench::file_stem(model->second), false,
                     analysis::diff_side(trace, steps)};
  const auto layers = layers_figure(traced.label, traced.side.layers);
  if (layers) traced.figures.push_back(*layers);
  if (!layers) say(path.string() + ": no layers were announced, so there is no figure of them");
  const auto breakdown = steps_figure(traced.label, analysis::break_down_steps(trace, steps));
  if (breakdown) traced.figures.push_back(*breakdown);
  if (!breakdown) say(path.string() + ": no steps were announced, so there is no figure of them");
  return traced;
}

/// Throws if the baseline cannot be read, because no waterfall could be drawn then.
std::vector<TracedModel> read_traces(const std::vector<report::RunFile>& files, const Options& options) {
  std::vector<TracedModel> traces;
  // Traces in different folders may have the same name.
  report::Ids names;
  for (const report::RunFile& file : files) {
    if (file.kind != report::RunFileKind::kTrace) continue;
    const std::string name = names.take(file_name(report::trace_stem(file.path)));
    std::error_code error;
    if (!options.baseline.empty() &&
        (file.path == options.baseline || fs::equivalent(file.path, options.baseline, error))) {
      traces.push_back(read_trace(file.path, name));
      traces.back().baseline = true;
      continue;
    }
    reading([&] { traces.push_back(read_trace(file.path, name)); });
  }
  return traces;
}

report::Figure waterfall(const TracedModel& a, const TracedModel& b) {
  return waterfall_figure(a.label, b.label, analysis::compare_traces(a.side, b.side));
}

/// Returns waterfalls from the baseline to every other trace.
std::vector<report::Figure> from_baseline(const std::vector<TracedModel>& traces, const std::string& named) {
  std::vector<report::Figure> figures;
  for (const TracedModel& a : traces) {
    if (!a.baseline) continue;
    for (const TracedModel& b : traces) {
      const bool comparable = a.model.empty() || b.model.empty() || a.model == b.model;
      if (!b.baseline && comparable) figures.push_back(waterfall(a, b));
    }
    if (figures.empty())
      fail_bad_input("--baseline {}: there is no other trace{} to compare it with", named,
                     a.model.empty() ? "" : " of " + report::printable(a.model));
  }
  return figures;
}

/// Returns a waterfall for each model that has exactly two traces.
std::vector<report::Figure> of_pairs(const std::vector<TracedModel>& traces) {
  std::map<std::string, std::vector<const TracedModel*>> models;
  for (const TracedModel& traced : traces) models[traced.model].push_back(&traced);
  std::vector<report::Figure> figures;
  for (const auto& [model, of_model] : models) {
    if (model.empty() || of_model.size() < 2) continue;
    if (of_model.size() == 2) {
      const bool in_order = analysis::is_first(of_model[0]->side, of_model[1]->side);
      figures.push_back(waterfall(*of_model[in_order ? 0 : 1], *of_model[in_order ? 1 : 0]));
    } else {
      say(fmt::format("there are {} traces of {}; --baseline TRACE compares the others with one of them",
                      of_model.size(), model));
    }
  }
  return figures;
}

void check_baseline(const std::string& baseline) {
  std::error_code error;
  const bool folder = fs::is_directory(baseline, error);
  if (error) fail_bad_input("--baseline {}: {}", baseline, error.message());
  if (folder) fail_bad_input("--baseline {}: it is a folder, not a trace", baseline);
  const report::RunFiles found = report::find_run_files({baseline});
  if (found.files.front().kind == report::RunFileKind::kSweep)
    fail_bad_input("--baseline {}: it is a result of a benchmark, not a trace", baseline);
  if (found.files.front().kind == report::RunFileKind::kPartition)
    fail_bad_input("--baseline {}: it is a partition, not a trace", baseline);
}

void run(const Options& options) {
  refuse_file_name("-o", options.output, "figures");
  Plotter plotter(options);
  std::vector<std::string> inputs = options.inputs;
  if (!options.baseline.empty()) {
    check_baseline(options.baseline);
    inputs.push_back(options.baseline);
  }
  const report::RunFiles found = report::find_run_files(inputs);
  for (const std::string& sentence : found.sentences) say(sentence);
  const std::vector<TracedModel> traces = read_traces(found.files, options);
  const std::vector<report::Figure> waterfalls =
      options.baseline.empty() ? of_pairs(traces) : from_baseline(traces, options.baseline);
  const OutputFolder folder(options.output);
  plot_sweeps(found.files, &plotter);
  for (const TracedModel& traced : traces) {
    for (const report::Figure& figure : traced.figures) plotter.draw(figure);
  }
  for (const report::Figure& figure : waterfalls) plotter.draw(figure);
  if (plotter.drawn() > 0) return;
  fail_bad_input("nothing to plot: {} no result of `hone bench` and no trace that can be read",
                 found.others > 0 ? "among the JSON files there is" : "there is");
}

}  // namespace

void add_plot_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("plot", "Draw figures of benchmarks and traces as SVG and PNG");
  const auto options = std::make_shared<Options>();
  command->add_option("inputs", options->inputs, "Results of hone bench, traces, or folders with them")
      ->required();
  command->add_option("-o,--output", options->output, "Folder for the figures")->capture_default_str();
  command->add_option("--formats", options->formats, "svg, png")
      ->delimiter(',')
      ->check(CLI::IsMember({"svg", "png"}))
      ->capture_default_str();
  command->add_option("--baseline", options->baseline, "Trace that the waterfalls compare all others with");
  const CLI::Validator side = finite_range(report::kLeastSide, report::kMostSide);
  command->add_option("--width", options->width, "Width of a figure in pixels")
      ->check(side)
      ->capture_default_str();
  command->add_option("--height", options->height, "Height in pixels (default: what the figure needs)")
      ->check(side);
  command->add_option("--scale", options->scale, "PNG pixels for each pixel of the figure")
      ->check(finite_range(0.5, 8.0))
      ->capture_default_str();
  command->add_option("--theme", options->theme, "light or dark")
      ->check(CLI::IsMember({"light", "dark"}))
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
