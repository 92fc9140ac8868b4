// `hone inspect`: prints the steps of an engine, or the graph of a model or engine as text.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/inspect_layers.hpp"
#include "device/devices.hpp"
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "engine/shape_profile.hpp"
#include "engine/source_model.hpp"
#include "graph/text/printer.hpp"
#include "report/terminal/sheet.hpp"
#include "transform/pass.hpp"

namespace hone::cli {
namespace {

constexpr double kMega = 1e6;

struct Options : EngineOptions {
  bool json = false;
  bool rivals = false;
  bool passes = false;
  bool graph = false;
  /// Options that control how an engine is built.
  OptionList building;
  LayerOptions layers;
};

/// Escapes control characters: names come from files, and a terminal would execute escape sequences in them.
template <class... Args>
void print_line(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}\n", report::printable(fmt::format(format, std::forward<Args>(args)...)));
}

/// Describes one candidate, with its numeric policy if the engine could choose between several.
std::string record_text(const engine::Engine& engine, const engine::TacticRecord& record) {
  std::string how(engine::layout_name(record.layout));
  if (engine.policies.size() > 1) how += fmt::format(", {}", engine::policy_name(record.policy));
  if (record.refusal) return fmt::format("{} ({}) refused: {}", record.tactic, how, record.refusal.text());
  return fmt::format("{} ({}) {:.1f} us, n {}{}", record.tactic, how, record.median_us, record.samples,
                     record.chosen ? ", chosen" : "");
}

void print_passes(const engine::Engine& engine) {
  const size_t width = transform::longest_pass_name();
  fmt::print("\n{:<{}} {:>8} {:>9}\n", "pass", width, "changes", "ms");
  for (const auto& pass : engine.passes) {
    print_line("{:<{}} {:>8} {:>9}", pass.name, width, pass.changes,
               pass.milliseconds ? fmt::format("{:.2f}", *pass.milliseconds) : "-");
    for (const std::string& note : pass.notes) print_line("    {}", note);
    for (const std::string& refusal : pass.refusals) print_line("    not done: {}", refusal);
  }
}

void print_memory(const engine::Description& description) {
  fmt::print(
      "weights {:.1f} MB; activations {:.2f} MB planned, {:.2f} MB without sharing, {:.2f} MB at least; "
      "scratch {:.2f} MB\n",
      description.weight_bytes / kMega, description.arena_bytes / kMega, description.naive_bytes / kMega,
      description.lower_bound_bytes / kMega, description.scratch_bytes / kMega);
  fmt::print(
      "one context takes {:.2f} MB: packed weights {:.2f}, other constants {:.2f}, activations {:.2f}, "
      "scratch "
      "{:.2f}, inputs and outputs {:.2f}\n\n",
      description.planned_bytes() / kMega, description.packed_bytes / kMega,
      description.constant_bytes / kMega, description.arena_bytes / kMega, description.scratch_bytes / kMega,
      description.io_bytes / kMega);
}

void print_rivals(const engine::Engine& engine, const engine::StepDescription& step) {
  if (step.whole_rivals.empty() && !step.whole_refusals.empty())
    print_line("     whole: {}", fmt::join(step.whole_refusals, "; "));
  for (const engine::TacticRecord& record : step.whole_rivals)
    print_line("     whole: {}", record_text(engine, record));
  for (const engine::TacticRecord& record : step.rivals) print_line("     {}", record_text(engine, record));
}

/// The steps of a subgraph follow the step that contains it, and are numbered within it.
void print_step(const engine::Engine& engine, const std::string& number, const engine::StepDescription& step,
                const Options& options) {
  print_line("{:>4} {:<20} {:<22} {:>9.2f} {:>8.3f}  {:<34} {}", number, step.kind, step.tactic,
             step.flops / kMega, step.bytes / kMega, step.outputs.empty() ? "" : step.outputs[0], step.name);
  if (!step.post_ops.empty()) print_line("     with {}", fmt::join(step.post_ops, ", "));
  if (engine.policies.size() > 1 && !step.policy.empty()) print_line("     in {}", step.policy);
  if (!step.piece_of.empty())
    print_line("     a piece of {}{}", step.piece_of,
               step.whole_refusals.empty() ? "" : ", which no tactic takes whole");
  if (options.rivals) print_rivals(engine, step);
  for (size_t i = 0; i < step.inner_steps.size(); ++i)
    print_step(engine, fmt::format("{}.{}", number, i), step.inner_steps[i], options);
}

/// `file_bytes` is the size of a stored engine, or 0 for an engine that was built by this command.
void print_text(const engine::Engine& engine, const engine::Description& description, double file_bytes,
                const Options& options) {
  print_line("{}: {} engine for {}", engine.model, engine::policies_text(engine.policies),
             engine.fingerprint());
  for (const auto& [name, profile] : engine.shapes) print_line("{}", engine::input_text(name, profile));
  if (file_bytes > 0) fmt::print("file {:.2f} MB\n", file_bytes / kMega);
  fmt::print("layout {}, batch group {}, {} threads, {:.2f} GFLOP\n", engine::layout_name(engine.layout),
             engine.micro_batch == 0 ? "all" : std::to_string(engine.micro_batch), engine.threads,
             description.flops / 1e9);
  if (!engine.not_timed.empty()) print_line("no tactic was timed: {}", engine.not_timed);
  if (!engine.cut_short.empty()) print_line("the time for the search was over: {}", engine.cut_short);
  if (!description.note.empty()) print_line("note: {}", description.note);
  if (!description.note.empty()) fmt::print("\n");
  if (description.note.empty()) print_memory(description);
  fmt::print("{:>4} {:<20} {:<22} {:>9} {:>8}  {:<34} {}\n", "step", "kind", "tactic", "MFLOP", "MB",
             "output", "name");
  for (size_t i = 0; i < description.steps.size(); ++i)
    print_step(engine, std::to_string(i), description.steps[i], options);
  if (options.passes) print_passes(engine);
}

/// Loads the engine so that the description shows the kernels that really run. An engine for another machine
/// cannot be loaded; its own record is described instead.
engine::Description describe(const std::shared_ptr<engine::Engine>& engine) {
  const engine::Device* device = nullptr;
  try {
    device = &device::device_of_fingerprint(engine->fingerprint());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kEnvironment) throw;
    return engine::describe_record(*engine);
  }
  engine::LoadedEngine loaded(engine, *device, engine->threads);
  return engine::describe(loaded, engine::tuned_shapes(*engine));
}

/// Returns the options that change how an engine is built but not its graph. They are refused with --graph,
/// because they would have no effect there.
OptionList without_influence(const Options& options) {
  // These options define the model.
  std::vector<std::string> names = {"--weights", "--seed", "--darknet-rules"};
  if (options.passes) {
    names.insert(names.end(),
                 {"--device", "--precision", "--minShapes", "--optShapes", "--maxShapes", "--disable-pass"});
  }
  OptionList list;
  std::copy_if(options.building.begin(), options.building.end(), std::back_inserter(list),
               [&](const auto* option) {
                 return std::find(names.begin(), names.end(), option->get_name()) == names.end();
               });
  return list;
}

std::shared_ptr<const graph::Graph> imported_graph(const Options& options) {
  const importer::Model model = engine::load_source_model(options.request.model, options.request.parameters);
  if (model.graph == nullptr)
    fail_bad_input("{} is a TorchScript archive, whose graph only libtorch reads", options.request.model);
  return model.graph;
}

/// Prints the graph of an engine, or the graph of a model before or after the passes.
void print_graph(const Options& options, bool stored) {
  if (stored) return fmt::print("{}", graph::print_graph(*engine::load_engine(options.request.model)->graph));
  refuse_given(without_influence(options), options.passes
                                               ? "has no influence on the graph"
                                               : "has no influence on the graph of a model as it was read");
  if (!options.passes) return fmt::print("{}", graph::print_graph(*imported_graph(options)));
  Options untimed = options;
  untimed.request.optimization_level = 0;
  fmt::print("{}", graph::print_graph(*build_from(untimed)->graph));
}

void inspect(const Options& options) {
  if (shows_layers(options.layers, options.request.model))
    return inspect_layers(options.layers, options.request.model, options.precision, options.request.device,
                          options.json);
  const bool stored = engine::is_engine_file(options.request.model);
  if (stored)
    refuse_given(options.building,
                 fmt::format("is for building an engine: {} is built", options.request.model));
  if (options.graph) return print_graph(options, stored);
  const std::shared_ptr<engine::Engine> engine =
      stored ? engine::load_engine(options.request.model) : build_from(options);
  const engine::Description description =
      speaking_of(options.request.model, [&] { return describe(engine); });
  const uint64_t file_bytes = stored ? std::filesystem::file_size(options.request.model) : 0;
  if (options.json) {
    Json json = engine::description_json(*engine, description);
    json["file_bytes"] = stored ? Json(file_bytes) : Json(nullptr);
    fmt::print("{}\n", json.dump(2));
    return;
  }
  print_text(*engine, description, static_cast<double>(file_bytes), options);
}

}  // namespace

void add_inspect_command(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "inspect", "Show the steps of an engine: source nodes, fusions, tactics, cost, memory");
  command
      ->add_option("model", options->request.model,
                   "An engine file, a TensorRT .plan, an ONNX file, or the name of a built-in architecture")
      ->required();
  CLI::Option* json = command->add_flag("--json", options->json, "Print all results as JSON");
  CLI::Option* rivals = command->add_flag("--rivals", options->rivals,
                                          "Show every candidate tactic with its time or why it was refused");
  command->add_flag("--passes", options->passes, "Show what each pass changed and refused");
  command
      ->add_flag(
          "--graph", options->graph,
          "Print the graph as text: an engine's own, or a model's as it was read; with --passes after them")
      ->excludes(json)
      ->excludes(rivals);
  options->building = add_engine_options(*command, *options);
  add_layer_options(*command, options->layers);
  command->callback([options] { inspect(*options); });
}

}  // namespace hone::cli
