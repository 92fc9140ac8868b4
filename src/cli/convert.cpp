// `hone convert TRACE FOLDER`: writes a trace in the file formats of other tools.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/folder.hpp"
#include "cli/option_checks.hpp"
#include "cli/trace_argument.hpp"
#include "report/export/event_csv.hpp"
#include "report/export/trtexec_json.hpp"
#include "trace/format/kineto_writer.hpp"
#include "trace/format/text_sink.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::string trace;
  std::string folder;
  std::string format = "kineto";
  bool gzip = false;
  bool whole_microseconds = false;
};

void write_json(const std::filesystem::path& path, const Json& json) {
  base::write_file_atomic(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  fmt::print("{}\n", path.string());
}

/// Writes the three files under the names that users of trtexec usually give them.
void write_trtexec(const trace::Trace& trace, const std::filesystem::path& folder) {
  const analysis::StepList steps = analysis::find_steps(trace);
  const analysis::LayerTable layers = analysis::analyze_layers(trace, steps);
  const auto times = report::trtexec_times(trace, steps);  // refuses traces without iterations
  write_json(folder / "trt_layer_latency.json", report::trtexec_profile(layers));
  write_json(folder / "trt_engine_info.json", report::trtexec_layer_info(layers));
  write_json(folder / "trt_times.json", times);
}

void write_csv(const Options& options, const char* name, const trace::Trace& trace,
               void (*lines)(const trace::Trace&, const report::LineSink&)) {
  const std::filesystem::path path = std::filesystem::path(options.folder) / name;
  trace::TextSink file(path.string() + (options.gzip ? ".gz" : ""), options.gzip);
  lines(trace, [&file](std::string_view line) {
    file.write(line);
    file.write("\n");
  });
  file.finish();
  fmt::print("{}{}\n", path.string(), options.gzip ? ".gz" : "");
}

void check_flags(const Options& options) {
  if (options.gzip && options.format == "trtexec")
    fail_usage("--gzip is for kineto and csv, not for trtexec");
  if (options.whole_microseconds && options.format != "kineto")
    fail_usage("--whole-microseconds is for kineto, not for {}", options.format);
}

/// Refuses to overwrite the trace that is read. Kineto's file names contain the time, so they cannot collide
/// with it.
void check_outputs(const Options& options) {
  for (const char* name : {"trt_layer_latency.json", "trt_engine_info.json", "trt_times.json",
                           "gpu_trace.csv", "gpu_trace.csv.gz", "api_trace.csv", "api_trace.csv.gz"}) {
    const bool written = options.format == "csv"
                             ? std::string(name).ends_with(options.gzip ? ".csv.gz" : ".csv")
                             : options.format == "trtexec" && std::string(name).ends_with(".json");
    if (written) refuse_overwriting(std::filesystem::path(options.folder) / name, {options.trace});
  }
}

void run(const Options& options) {
  check_flags(options);
  check_outputs(options);
  refuse_file_name("the second argument", options.folder, "the converted files");
  const trace::Trace trace = open_given_trace(options.trace);
  const OutputFolder folder(options.folder);
  if (options.format == "csv") {
    write_csv(options, "gpu_trace.csv", trace, report::gpu_trace_csv);
    return write_csv(options, "api_trace.csv", trace, report::api_trace_csv);
  }
  if (options.format == "trtexec") return write_trtexec(trace, options.folder);
  trace::KinetoOptions kineto;
  kineto.gzip = options.gzip;
  kineto.whole_microseconds = options.whole_microseconds;
  for (const std::filesystem::path& path : trace::write_kineto(trace, options.folder, kineto))
    fmt::print("{}\n", path.string());
}

}  // namespace

void add_convert_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "convert", "Convert a trace for Perfetto, TensorBoard, trtexec's readers or as CSV");
  const auto options = std::make_shared<Options>();
  command->add_option("trace", options->trace, "A trace of any kind that hone analyze reads")->required();
  command->add_option("folder", options->folder, "Folder to write to; for TensorBoard LOGDIR/RUN")
      ->required();
  command
      ->add_option(
          "--to", options->format,
          "kineto: JSON for Perfetto, TensorBoard and HTA; trtexec: its profile, layer and times files; csv: "
          "every kernel, copy and call, as nvprof's --print-gpu-trace and --print-api-trace")
      ->check(CLI::IsMember({"kineto", "trtexec", "csv"}))
      ->capture_default_str();
  command->add_flag("--gzip", options->gzip, "Compress the files (kineto, csv)");
  command->add_flag("--whole-microseconds", options->whole_microseconds,
                    "Round times down to microseconds, because HTA drops shorter intervals (kineto)");
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
