// `hone detect`: finds objects in images and videos, and writes the boxes to files, onto videos, or to the
// terminal.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.hpp"
#include "base/pending_file.hpp"
#include "cli/command.hpp"
#include "cli/detect_backends.hpp"
#include "cli/engine_options.hpp"
#include "cli/live_view.hpp"
#include "cli/option_checks.hpp"
#include "cli/pipeline_table.hpp"
#include "cli/progress_display.hpp"
#include "cli/subject_options.hpp"
#include "cli/vision_options.hpp"
#include "record/pipeline_trace.hpp"
#include "report/terminal/sheet.hpp"
#include "system/interruption.hpp"
#include "task/detect.hpp"
#include "trace/store.hpp"

namespace hone::cli {
namespace {

struct DetectArguments {
  VisionOptions vision;
  task::DetectRequest request;
  std::vector<std::string> outputs;
  std::string format;
  std::string fit;
  std::string colours;
  std::string stats;
  std::string results_file;
  std::vector<std::string> backends;
  std::string trace;
  bool view = false;
  report::ServerOptions server{.port = 8642, .patience_seconds = 2};
};

/// Two outputs with one file name would overwrite each other.
void refuse_sharing(const std::vector<std::string>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (is_one_file(outputs[i], outputs[k]))
        fail_usage("{} and {} are one file: each output needs its own", outputs[k], outputs[i]);
}

/// Checks outputs before anything is read or written.
void check_outputs(const DetectArguments& arguments, const std::vector<std::string>& outputs) {
  const task::NetworkOptions& network = arguments.vision.network;
  refuse_sharing(outputs);
  for (const std::string& file : outputs) {
    refuse_overwriting(file, {network.model, network.load.weights, arguments.vision.input,
                              arguments.request.ground_truth, arguments.vision.labels});
    base::check_writable(file);
  }
}

/// Decides which output is the video and which is the file of results.
void sort_outputs(DetectArguments* arguments) {
  task::DetectRequest& request = arguments->request;
  if (!arguments->format.empty()) request.format = task::parse_result_format(arguments->format);
  for (const std::string& file : arguments->outputs) {
    std::string& place = media::names_video(file) ? request.video : arguments->results_file;
    if (!place.empty())
      fail_usage("-o {} and -o {}: one video and one file of results can be written", place, file);
    place = file;
  }
  if (!arguments->results_file.empty() && !request.format)
    request.format = task::format_of_file(arguments->results_file);
}

/// Writes the results as text, either to standard output or to a file that is published only when it is
/// complete.
class ResultOutput {
 public:
  explicit ResultOutput(const DetectArguments& arguments) {
    if (!arguments.results_file.empty()) {
      file_.emplace(arguments.results_file);
    } else {
      printed_ = arguments.request.video.empty() || arguments.request.format.has_value();
    }
  }

  bool is_printed() const { return printed_; }
  bool is_wanted() const { return file_.has_value() || printed_; }

  void write(std::string_view text) {
    if (!file_) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return;
    }
    // A system call for each frame would cost more than formatting its text, so the text is collected first.
    constexpr size_t kChunk = size_t{1} << 16;
    waiting_ += text;
    if (waiting_.size() < kChunk) return;
    file_->write(waiting_);
    waiting_.clear();
  }
  void finish() {
    if (!file_) return;
    file_->write(waiting_);
    file_->publish();
  }

 private:
  std::optional<base::PendingFile> file_;
  std::string waiting_;
  bool printed_ = false;
};

void print_accuracy(const task::Accuracy& accuracy, std::FILE* to) {
  fmt::print(to, "mAP@0.5 {:.4f}  precision {:.4f}  recall {:.4f}  at scores above {:g}\n", accuracy.map50,
             accuracy.precision, accuracy.recall, accuracy.threshold);
  fmt::print(to, "{} true boxes, {} detections true, {} false\n", accuracy.truths, accuracy.true_positives,
             accuracy.false_positives);
  for (const task::ClassAccuracy& one : accuracy.classes)
    fmt::print(to, "  {:<24} AP@0.5 {:.4f}  {} true boxes\n", report::printable(one.name), one.ap50,
               one.truths);
  fmt::print(to, "{}\n", accuracy.rule);
}

std::string stats_text(const task::DetectOutcome& outcome) {
  Json json = base::described_json(outcome.report);
  if (outcome.accuracy) json["accuracy"] = base::described_json(*outcome.accuracy);
  json["decoding"] = outcome.decoding;
  json["preprocessing"] = outcome.preprocessing;
  json["notes"] = outcome.notes;
  json["losses"] = outcome.losses;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_trace(const std::string& file, const task::DetectOutcome& outcome) {
  const trace::Trace trace = record::pipeline_trace(outcome.timeline, outcome.report, stats_text(outcome));
  trace::write_store(trace, file);
  fmt::print(stderr, "note: what {} stages did, {} ranges, is in {}\n", outcome.report.stages.size(),
             trace.host_events.size(), file);
}

void check(DetectArguments* arguments) {
  task::DetectRequest& request = arguments->request;
  complete(arguments->vision);
  request.input = arguments->vision.input;
  request.timeout_seconds = arguments->vision.timeout_seconds;
  request.most_frames = arguments->vision.most_frames;
  request.detector.network = arguments->vision.network;
  request.detector.labels = arguments->vision.labels;
  request.detector.preprocess.mean = arguments->vision.mean_values();
  request.detector.preprocess.std = arguments->vision.std_values();
  request.detector.preprocess.scale = arguments->vision.scale;
  if (!arguments->fit.empty()) request.detector.preprocess.fit = task::parse_fit(arguments->fit);
  if (!arguments->colours.empty()) request.detector.preprocess.bgr = arguments->colours == "bgr";
  std::vector<std::string> all = arguments->outputs;
  if (!arguments->stats.empty()) all.push_back(arguments->stats);
  if (!arguments->trace.empty()) all.push_back(arguments->trace);
  check_outputs(*arguments, all);
  sort_outputs(arguments);
  request.timeline = !arguments->trace.empty();
}

task::DetectOutcome run_pipeline(const task::DetectRequest& request) {
  try {
    return task::detect(request);
  } catch (const system::Interrupted&) {
    fmt::print(stderr, "hone: interrupted before the first frame\n");
    throw;
  }
}

/// Runs each backend in its own process; this function checks only what all of them share.
void compare_backends(const CLI::App& command, DetectArguments* arguments) {
  complete(arguments->vision);
  BackendsRequest request{{}, arguments->outputs, arguments->stats};
  for (const std::string& backend : arguments->backends)
    if (std::find(request.backends.begin(), request.backends.end(), backend) == request.backends.end())
      request.backends.push_back(backend);
  std::vector<std::string> all;
  for (const std::string& backend : request.backends)
    for (const std::string& output : request.outputs) all.push_back(output_of(output, backend).string());
  if (!request.stats.empty()) all.push_back(request.stats);
  check_outputs(*arguments, all);
  const std::vector<std::string> losses = detect_with_backends(command, request);
  warn_of_losses(losses);
  refuse_losses(losses, arguments->vision);
}

void detect(DetectArguments* arguments) {
  check(arguments);
  task::DetectRequest& request = arguments->request;
  ResultOutput results(*arguments);
  if (results.is_wanted()) request.results = [&](std::string_view text) { results.write(text); };
  const task::NetworkOptions& network = request.detector.network;
  if (const std::string note = random_weights_note(network.model, network.load); !note.empty())
    fmt::print(stderr, "note: {}\n", note);
  const system::Interruptible interruptible;
  request.stop = &system::interruption();
  constexpr double kLineSeconds = 10;
  ProgressDisplay display(kLineSeconds);
  request.progress = [&](const base::Progress& progress) { display.show(progress); };
  request.detector.network.progress = [&](const base::Progress& progress) {
    system::throw_if_interrupted();
    display.show(progress);
  };
  std::optional<LiveView> view;
  if (arguments->view) {
    view.emplace(arguments->server, fmt::format("{}: {}", request.detector.network.model, request.input));
    request.show = [&](const media::Frame& frame) { view->show(frame); };
  }
  const task::DetectOutcome outcome = run_pipeline(request);
  view.reset();
  display.clear();
  results.finish();
  if (!arguments->stats.empty()) base::write_file_atomic(arguments->stats, stats_text(outcome));
  if (!arguments->trace.empty()) write_trace(arguments->trace, outcome);
  std::FILE* const people = results.is_printed() ? stderr : stdout;
  for (const std::string& note : outcome.notes) fmt::print(stderr, "note: {}\n", report::printable(note));
  warn_of_losses(outcome.losses);
  print_pipeline(outcome.report, report::printable(outcome.decoding),
                 report::printable(outcome.preprocessing), people);
  print_transfers(outcome.report.transfers, people);
  if (outcome.accuracy) print_accuracy(*outcome.accuracy, people);
  if (outcome.stopped) fmt::print(stderr, "hone: interrupted after {} frames\n", outcome.report.frames);
  if (outcome.stopped) system::throw_if_interrupted();
  refuse_losses(outcome.losses, arguments->vision);
}

std::string decoder_names() {
  std::string names = "How outputs are read, where their shapes and names leave it open:";
  for (const task::Decoder& decoder : task::decoders()) names += fmt::format(" {}", decoder.name);
  return names;
}

void add_input_options(CLI::App& command, DetectArguments& arguments) {
  task::DetectRequest& request = arguments.request;
  const std::string group = "Input";
  command
      .add_flag("--realtime", request.realtime,
                "Read frames at the speed of the video; frames that come too fast are dropped and counted")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--hwaccel", [&request](const std::string& what) { request.decode_on_device = what == "auto"; },
          "Decoder of videos: none, which is the CPU, or auto, which is the network's GPU where that can")
      ->check(CLI::IsMember({"auto", "none"}))
      ->group(group);
  command
      .add_option("--fit", arguments.fit,
                  "How images are fitted to the input: stretch, letterbox, corner or darknet")
      ->group(group);
  command.add_option("--colours", arguments.colours, "Order of the colour channels")
      ->check(CLI::IsMember({"rgb", "bgr"}))
      ->group(group);
}

void add_detection_options(CLI::App& command, DetectArguments& arguments) {
  task::DetectRequest& request = arguments.request;
  const std::string group = "Detections";
  command.add_option("--decoder", request.detector.decoder, decoder_names())->group(group);
  command.add_option("--threshold", request.detector.threshold, "Least score of a detection")
      ->check(finite_range(0, 1))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--overlap", request.detector.finish.overlap,
                  "IoU above which non-maximum suppression drops the box with the lower score")
      ->check(finite_range(0, 1))
      ->capture_default_str()
      ->group(group);
  command.add_option("--max-detections", request.detector.finish.most, "Most detections in a frame")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group(group);
  command.add_flag("--track", request.track, "Track objects through the frames of a video (ByteTrack)")
      ->group(group);
  command
      .add_option("--ground-truth", request.ground_truth,
                  "True boxes, as MOT text or COCO JSON; reports mAP@0.5, precision and recall")
      ->group(group);
}

void add_output_options(CLI::App& command, DetectArguments& arguments) {
  task::DetectRequest& request = arguments.request;
  const std::string group = "Output";
  command
      .add_option("-o,--output", arguments.outputs,
                  "A video (.mp4, .mkv, .avi, .webm), or results (.jsonl, .json, .txt); both may be given")
      ->group(group);
  command.add_option("--format", arguments.format, "Format of the results: jsonl, coco or mot")->group(group);
  command.add_option("--stats", arguments.stats, "Write the table of pipeline stages as JSON to this file")
      ->group(group);
  command
      .add_option("--trace", arguments.trace,
                  "Write a timeline of the pipeline stages to this .trace.sqlite file; hone profile detect "
                  "adds the GPU's work")
      ->group(group);
  CLI::Option* const view = command.add_flag(
      "--view", arguments.view, "Show frames with their detections in a browser while they are found");
  view->group(group);
  command.add_option("--port", arguments.server.port, "Port to listen on; 0 for any that is free")
      ->needs(view)
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--host", arguments.server.host,
                  "Address to listen on; others than 127.0.0.1 let other machines in")
      ->needs(view)
      ->capture_default_str()
      ->group(group);
  command.add_option("--encoder", request.encoding.encoder, "FFmpeg encoder (default libx264)")->group(group);
  command.add_option("--preset", request.encoding.preset, "Preset of the encoder")
      ->capture_default_str()
      ->group(group);
  command.add_option("--crf", request.encoding.crf, "Quality of the encoder: lower is better and larger")
      ->check(CLI::Range(0, 63))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--encoderThreads", request.encoding.threads,
                  "Threads of the encoder; 0: the encoder decides")
      ->check(CLI::Range(0, 128))
      ->capture_default_str()
      ->group(group);
  command
      .add_flag_callback(
          "--no-sound", [&request] { request.keep_sound = false; }, "Leave out the sound")
      ->group(group);
}

}  // namespace

void add_detect_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("detect", "Find objects in images and videos");
  auto arguments = std::make_shared<DetectArguments>();
  add_vision_options(*command, arguments->vision);
  add_input_options(*command, *arguments);
  add_detection_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command
      ->add_option("--backends", arguments->backends,
                   "Run the same pipeline with each of these backends and compare: hone, torch, torchscript, "
                   "tensorrt, reference")
      ->delimiter(',')
      ->excludes("--backend")
      ->excludes("--trace")
      ->excludes("--view");
  command->callback([command, arguments] {
    if (arguments->backends.empty()) return detect(arguments.get());
    compare_backends(*command, arguments.get());
  });
}

}  // namespace hone::cli
