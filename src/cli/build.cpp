// `hone build`: builds an engine file from a model.
#include <fmt/core.h>

#include <filesystem>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "device/devices.hpp"
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "engine/shape_profile.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {
namespace {

struct Options : EngineOptions {
  std::string output;
};

void build(const Options& options) {
  refuse_overwriting(options.output,
                     {options.request.model, options.request.parameters.weights, options.request.int8.cache});
  for (const std::string& source : options.request.int8.data.sources)
    refuse_overwriting(options.output, {source});
  if (is_one_file(options.output, options.request.cache.file))
    fail_usage("{}: the engine would overwrite the timing cache", options.output);
  if (options.output == "-") fail_usage("an engine goes into a file: give -o FILE.hone");
  base::check_writable(options.output);
  refuse_other_kind(options.output, ".hone", "engine");
  const auto engine = build_from(options);
  const engine::Device& device = device::find_device(options.request.device);
  engine::save_engine(*engine, device, options.output);
  engine::LoadedEngine loaded(engine, device, engine->threads);
  const auto description = engine::describe(loaded, engine::tuned_shapes(*engine));
  constexpr double kMega = 1e6;
  fmt::print(
      "{}: {:.1f} MB, {} steps, {} layout, {:.1f} MB of weights, {:.1f} MB of activations ({:.1f} MB without "
      "sharing), {:.1f} MB in all when it runs, built in {:.2f} s\n",
      options.output, static_cast<double>(std::filesystem::file_size(options.output)) / kMega,
      description.steps.size(), engine::layout_name(engine->layout), description.weight_bytes / kMega,
      description.arena_bytes / kMega, description.naive_bytes / kMega, description.planned_bytes() / kMega,
      engine->build_seconds);
  for (const char* key : {backend::kQuantizationNote, backend::kOwnQuantizationNote}) {
    if (const auto note = engine->metadata.find(key); note != engine->metadata.end())
      fmt::print("{}: {}\n", options.output, report::printable(note->second));
  }
  for (const auto& [name, profile] : engine->shapes)
    fmt::print("{}: {}\n", options.output, report::printable(engine::input_text(name, profile)));
  if (!engine->not_timed.empty())
    fmt::print("{}: no tactic was timed: {}\n", options.output, report::printable(engine->not_timed));
  if (!engine->cut_short.empty())
    fmt::print("{}: the time for the search was over: {}; --builderBudget gives it more\n", options.output,
               engine->cut_short);
}

}  // namespace

void add_build_command(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("build", "Build an engine file from a model");
  command
      ->add_option("model", options->request.model,
                   "An ONNX file, a darknet .cfg file, or a built-in architecture")
      ->required();
  command->add_option("-o,--output", options->output, "The engine file to write")->required();
  add_engine_options(*command, *options);
  command->callback([options] { build(*options); });
}

}  // namespace hone::cli
