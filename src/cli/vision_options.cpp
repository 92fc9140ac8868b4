// See vision_options.hpp.
#include "cli/vision_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "cli/engine_options.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "import/image/preprocess.hpp"
#include "report/terminal/sheet.hpp"
#include "system/cpu.hpp"

namespace hone::cli {

std::vector<float> VisionOptions::mean_values() const {
  return mean.empty() ? std::vector<float>() : importer::parse_floats(mean, "--mean");
}

std::vector<float> VisionOptions::std_values() const {
  return std.empty() ? std::vector<float>() : importer::parse_divisors(std, "--std");
}

void add_vision_options(CLI::App& command, VisionOptions& options) {
  task::NetworkOptions& network = options.network;
  command.add_option("model", network.model, "An engine, a model's file, or a built-in architecture")
      ->required();
  command.add_option(
      "input", options.input,
      "An image, a folder of images, a pattern like frame_%03d.png, a video, a stream's URL, a camera "
      "(/dev/video0 or 0), or - for standard input");
  command.add_option("--input", options.input_option)->group("");
  command.add_option("--backend", network.backend, "Backend that runs the model")->capture_default_str();
  command.add_option("--device", network.device, "cpu, cuda or cuda:1; an engine's own when left out");
  command.add_option("--precision", network.precision, "fp32, tf32, bf16 or fp16")->capture_default_str();
  command
      .add_option(
          "--threads", options.threads,
          "Threads that each stream of the network may use (default: the cores, shared by the streams)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--batch", network.batch, "Batch size: images that go through the network together")
      ->check(CLI::Range(1, 4096));
  command
      .add_option("--infStreams", network.streams,
                  "Batches that are computed at the same time, each in a stream of its own")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  add_model_options(command, network.load);
  command.add_option("--labels", options.labels, "File with the names of the classes, one on each line");
  const std::string images = "Input";
  command.add_option("--size", options.size, "Input size as WIDTHxHEIGHT, for networks that take any")
      ->group(images);
  command
      .add_option_function<std::string>(
          "--preprocess",
          [&network](const std::string& where) {
            if (where == "cpu") network.bind_frames = nullptr;
          },
          "Where frames are preprocessed: auto (the network's device, where possible) or cpu")
      ->check(CLI::IsMember({"auto", "cpu"}))
      ->group(images);
  command.add_option("--scale", options.scale, "Factor for pixel values 0..255")
      ->check(finite_range(-1e9, 1e9))
      ->group(images);
  command
      .add_option("--mean", options.mean,
                  "Mean to subtract after scaling: one number, or three, as 0.485,0.456,0.406")
      ->group(images);
  command
      .add_option("--std", options.std,
                  "Standard deviation to divide by after that: one number, or three, as 0.229,0.224,0.225")
      ->group(images);
  command.add_option("--timeout", options.timeout_seconds, "Seconds that a stream may be silent")
      ->check(finite_range(0.1, 3600))
      ->capture_default_str()
      ->group(images);
  command.add_option("--frames", options.most_frames, "Number of frames or images to read")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->group(images);
  command.add_flag("--strict", options.strict, "Exit with 5 when frames or images were lost or damaged")
      ->group(images);
}

namespace {

/// Explains a common mistake: the input was given before the model.
void refuse_exchanged(const std::string& model, const std::string& input) {
  constexpr std::array kModels{".onnx", ".cfg", ".hone", ".pt", ".pth", ".ts"};
  const auto is_model = [&](const std::string& name) {
    return std::ranges::find(kModels, std::filesystem::path(name).extension()) != kModels.end();
  };
  if (is_model(input) && !is_model(model))
    fail_usage("{} is a model, which comes before the input: {} {}", input, input, model);
}

}  // namespace

void complete(VisionOptions& options) {
  refuse_exchanged(options.network.model, options.input.empty() ? options.input_option : options.input);
  if (!options.input.empty() && !options.input_option.empty())
    fail_usage("input is given twice: {} and --input {}", options.input, options.input_option);
  if (options.input.empty()) options.input = options.input_option;
  if (options.input.empty()) fail_usage("input is required: an image, a folder of images or a video");
  options.network.threads =
      options.threads.value_or(std::max(1, system::usable_cores() / options.network.streams));
  if (options.size.empty()) return;
  const size_t cross = options.size.find('x');
  const auto number = [&](std::string_view text) -> int64_t {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = code == std::errc() && end == text.data() + text.size();
    if (!whole || value < 1 || value > 16384) fail_usage("--size is '{}', not WIDTHxHEIGHT", options.size);
    return value;
  };
  const std::string_view text = options.size;
  options.network.width = number(text.substr(0, cross));
  options.network.height =
      cross == std::string::npos ? *options.network.width : number(text.substr(cross + 1));
}

void warn_of_losses(const std::vector<std::string>& losses) {
  for (const std::string& loss : losses) fmt::print(stderr, "warning: {}\n", report::printable(loss));
}

void refuse_losses(const std::vector<std::string>& losses, const VisionOptions& options) {
  if (options.strict && !losses.empty()) throw Error(ErrorKind::kThreshold, losses.front(), options.input);
}

}  // namespace hone::cli
