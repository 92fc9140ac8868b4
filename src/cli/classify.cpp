// `hone classify`: prints the most probable classes of images and of the frames of a video.
#include <fmt/core.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/pending_file.hpp"
#include "base/statistics.hpp"
#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "cli/progress_display.hpp"
#include "cli/subject_options.hpp"
#include "cli/vision_options.hpp"
#include "report/terminal/sheet.hpp"
#include "system/interruption.hpp"
#include "task/class_scores.hpp"
#include "task/classify.hpp"

namespace hone::cli {
namespace {

struct ClassifyArguments {
  VisionOptions vision;
  task::ClassifyRequest request;
  std::string output;
  std::string format;
  int64_t top = 5;
};

std::string json_of(const task::ImageClasses& image) {
  Json json = {{"frame", image.frame}};
  if (image.file.empty()) json["pts_ms"] = 1000 * image.seconds;
  if (!image.file.empty()) json["file"] = image.file;
  json["classes"] = Json::array();
  for (const task::ClassScore& one : image.classes)
    json["classes"].push_back(Json{
        {"class", one.label}, {"name", one.name}, {"probability", one.probability}, {"score", one.score}});
  if (image.truth)
    json["truth"] = {{"class", image.truth->label}, {"name", image.truth->name}, {"rank", image.truth_rank}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string csv_of(const task::ImageClasses& image) {
  std::string text;
  const std::string name = image.file.empty() ? fmt::format("{}", image.frame) : image.file;
  for (size_t i = 0; i < image.classes.size(); ++i) {
    const task::ClassScore& one = image.classes[i];
    text += fmt::format("{},{},{},{},{:.6f},{:.6g}", report::csv_field(name), i + 1, one.label,
                        report::csv_field(one.name), one.probability, one.score);
    text += image.truth ? fmt::format(",{}\n", image.truth->label) : "\n";
  }
  return text;
}

std::string text_of(const task::ImageClasses& image) {
  std::string text =
      image.file.empty() ? fmt::format("frame {}", image.frame) : report::printable(image.file);
  for (const task::ClassScore& one : image.classes)
    text += fmt::format("\n  {:>5}  {:<24} probability {:>6.2f} %  score {}", one.label,
                        report::printable(one.name), 100 * one.probability, task::score_text(one.score));
  if (image.truth)
    text += fmt::format("\n  true: {} {}, which is number {}", image.truth->label,
                        report::printable(image.truth->name), image.truth_rank);
  return text + "\n";
}

/// "top-1 91.32 % [90.01 92.47], top-5 …": the accuracies with their 95 % confidence intervals.
std::string accuracy_text(const task::TopAccuracy& accuracy) {
  const auto share = [&](int64_t hits) {
    const base::Interval interval = base::share_interval(hits, accuracy.images);
    return fmt::format("{:.2f} % [{:.2f} {:.2f}]",
                       100 * static_cast<double>(hits) / static_cast<double>(accuracy.images),
                       100 * interval.low, 100 * interval.high);
  };
  return fmt::format("accuracy of {} image{}: top-1 {}, top-5 {}", accuracy.images,
                     accuracy.images == 1 ? "" : "s", share(accuracy.top1), share(accuracy.top5));
}

/// Prints results as they arrive, or writes them to a file that is published only when it is complete.
class ResultText {
 public:
  ResultText(std::string format, const std::string& file) : format_(std::move(format)) {
    if (!file.empty()) file_.emplace(file);
  }

  void add(const task::ImageClasses& image) {
    if (format_ == "json")
      write((begun_ ? ",\n" : "[\n") + json_of(image));
    else if (format_ == "csv")
      write((begun_
                 ? ""
                 : fmt::format("file,rank,class,name,probability,score{}\n", image.truth ? ",truth" : "")) +
            csv_of(image));
    else
      write(text_of(image));
    begun_ = true;
  }
  void finish() {
    if (format_ == "json") write(begun_ ? "\n]\n" : "[]\n");
    if (file_) file_->publish();
  }

 private:
  void write(const std::string& text) {
    if (file_) return file_->write(text);
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  std::string format_;
  std::optional<base::PendingFile> file_;
  bool begun_ = false;
};

/// Uses --format, else the extension of the output file. An empty format is the text for people.
std::string choose_format(const ClassifyArguments& arguments) {
  if (!arguments.format.empty() || arguments.output.empty()) return arguments.format;
  if (arguments.output.ends_with(".json")) return "json";
  if (arguments.output.ends_with(".csv")) return "csv";
  fail_usage("{} ends neither in .json nor in .csv: --format says what it shall be", arguments.output);
}

void classify(ClassifyArguments* arguments) {
  complete(arguments->vision);
  task::ClassifyRequest& request = arguments->request;
  request.input = arguments->vision.input;
  request.network = arguments->vision.network;
  request.labels = arguments->vision.labels;
  request.timeout_seconds = arguments->vision.timeout_seconds;
  request.most_images = arguments->vision.most_frames;
  request.top = static_cast<size_t>(arguments->top);
  request.preprocess.scale = arguments->vision.scale;
  request.preprocess.mean = arguments->vision.mean_values();
  request.preprocess.std = arguments->vision.std_values();
  const std::string format = choose_format(*arguments);
  if (!arguments->output.empty()) {
    refuse_overwriting(arguments->output, {request.network.model, request.network.load.weights, request.input,
                                           request.labels, request.ground_truth});
    base::check_writable(arguments->output);
  }
  if (const std::string note = random_weights_note(request.network.model, request.network.load);
      !note.empty())
    fmt::print(stderr, "note: {}\n", note);
  const system::Interruptible interruptible;
  request.stop = &system::interruption();
  ResultText results(format, arguments->output);
  constexpr double kLineSeconds = 10;
  ProgressDisplay display(kLineSeconds);
  request.network.progress = [&](const base::Progress& progress) {
    system::throw_if_interrupted();
    display.show(progress);
  };
  const auto outcome = task::classify(request, [&](const task::ImageClasses& image) {
    display.clear();
    results.add(image);
  });
  // If the run was stopped before the first result, no file is written, because an empty one would look like
  // a result.
  if (!outcome.stopped || outcome.images > 0 || arguments->output.empty()) results.finish();
  for (const std::string& note : outcome.notes) fmt::print(stderr, "note: {}\n", report::printable(note));
  warn_of_losses(outcome.losses);
  if (outcome.accuracy && outcome.accuracy->images > 0)
    fmt::print(format.empty() ? stdout : stderr, "{}\n", accuracy_text(*outcome.accuracy));
  if (outcome.stopped) fmt::print(stderr, "hone: interrupted after {} images\n", outcome.images);
  if (outcome.stopped) system::throw_if_interrupted();
  refuse_losses(outcome.losses, arguments->vision);
}

}  // namespace

void add_classify_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("classify", "Classify images");
  auto arguments = std::make_shared<ClassifyArguments>();
  task::ClassifyRequest& request = arguments->request;
  add_vision_options(*command, arguments->vision);
  command->add_option("--top", arguments->top, "Show this many of the most likely classes of each image")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--ground-truth", request.ground_truth,
                      "Report the accuracy. folders: sub-folders of the input are the classes; else a file "
                      "with the name and class of an image on each line");
  command->add_option("-o,--output", arguments->output, "Write the results to this .json or .csv file");
  command->add_option("--format", arguments->format, "Format of the results")
      ->check(CLI::IsMember({"json", "csv"}));
  const std::string group = "Input";
  command
      ->add_option("--resize", request.preprocess.resize,
                   "Resize the shorter side to this length; 0: keep the size")
      ->check(CLI::Range(0, 16384))
      ->group(group);
  command
      ->add_option("--crop", request.preprocess.crop,
                   "Crop a centred square with this side; 0: keep everything")
      ->check(CLI::Range(0, 16384))
      ->group(group);
  command->callback([arguments] { classify(arguments.get()); });
}

}  // namespace hone::cli
