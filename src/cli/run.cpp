// `hone run`: runs a model on real inputs, and writes outputs to a file or the most probable classes to the
// terminal.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "backend/hone/hone_backend.hpp"
#include "backend/registry.hpp"
#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/image_options.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/progress_display.hpp"
#include "cli/run_inputs.hpp"
#include "cli/subject_options.hpp"
#include "device/devices.hpp"
#include "engine/carried_state.hpp"
#include "engine/engine_file.hpp"
#include "engine/fixed_cache_runs.hpp"
#include "import/load.hpp"
#include "quantize/float_graph.hpp"
#include "report/terminal/sheet.hpp"
#include "system/cpu.hpp"
#include "task/class_scores.hpp"
#include "task/names.hpp"
#include "tensor/npy.hpp"
#include "tensor/place.hpp"

namespace hone::cli {
namespace {

using tensor::Tensor;

/// Seconds between lines of progress if the output is not a terminal.
constexpr double kPlainLineSeconds = 5;

struct RunOptions {
  std::string model;
  importer::LoadModelOptions load;
  std::vector<std::string> inputs;
  std::vector<std::string> bind;
  std::string output;
  std::string backend = std::string(backend::kOwnBackend);
  std::string device = "cpu";
  std::string precision = "fp32";
  int threads = system::usable_cores();
  /// 0, because tuning takes longer than the single run.
  int level = 0;
  int64_t top = 0;
  ImageOptions images;
  /// --device; optional for an engine file, which holds the kind of its device.
  const CLI::Option* device_option = nullptr;
  /// Options that an engine file fixes.
  OptionList fixed_by_engine;
  /// Options that define how images become a tensor.
  OptionList of_images;
};

std::vector<InputSlot> input_slots(const importer::Model& model, size_t file_count,
                                   const std::vector<engine::Carry>& carries) {
  std::vector<InputSlot> slots;
  if (model.graph == nullptr) {
    // A TorchScript archive does not list its inputs; each file is one input.
    for (size_t i = 0; i < file_count; ++i) slots.push_back({fmt::format("input{}", i), {}});
    return slots;
  }
  for (const graph::ValueId id : model.graph->inputs) {
    slots.push_back({model.graph->value(id).name, model.graph->value(id).type});
  }
  for (const engine::Carry& carry : carries) slots[carry.input].bound = true;
  return slots;
}

std::string output_name(const importer::Model& model, size_t index) {
  if (model.graph == nullptr) return fmt::format("output{}", index);
  return model.graph->value(model.graph->outputs.at(index)).name;
}

void print_row(std::span<const double> row, const std::vector<std::string>& labels, size_t top) {
  const std::vector<double> shares = task::probabilities(row);
  for (const size_t index : task::likeliest(row, top)) {
    const std::string label = index < labels.size() ? report::printable(labels[index]) : "";
    fmt::print("  {:>5}  {:<24} probability {:>6.2f} %  score {}\n", index, label, 100 * shares[index],
               task::score_text(row[index]));
  }
}

void print_top(const Tensor& output, const RunInputs& inputs, const std::vector<std::string>& labels,
               size_t top) {
  const tensor::Shape& shape = output.shape();
  const bool rows =
      output.rank() >= 2 && std::all_of(shape.begin() + 2, shape.end(), [](int64_t d) { return d == 1; });
  if (!rows || output.size() == 0) {
    fail_usage("--top needs an output of rows of class scores, this one is {}",
               tensor::shape_text(output.shape()));
  }
  const std::vector<double> values = output.to_double();
  const auto width = static_cast<size_t>(shape[1]);
  for (size_t row = 0; row < values.size() / width; ++row) {
    fmt::print("{}\n", row < inputs.images.size() ? report::printable(inputs.images[row])
                                                  : fmt::format("row {}", row));
    print_row(std::span(values).subspan(row * width, width), labels, top);
  }
}

/// Returns all files that --input may name: "a:b" may be the file "b" for input "a", or a file "a:b".
std::vector<std::string> files_read(const RunOptions& options) {
  std::vector<std::string> files = options.inputs;
  for (const std::string& input : options.inputs) {
    for (size_t at = input.find(':'); at != std::string::npos; at = input.find(':', at + 1))
      files.push_back(input.substr(at + 1));
  }
  files.push_back(options.model);
  files.push_back(options.load.weights);
  return files;
}

void check_output(const RunOptions& options) {
  const std::string& file = options.output;
  if (file.empty()) return;
  refuse_overwriting(file, files_read(options));
  base::check_writable(file);
  if (!file.ends_with(".npz") && !file.ends_with(".npy"))
    fail_usage("{} ends neither in .npz nor in .npy", file);
}

void write_outputs(const std::string& file, const tensor::NamedTensors& outputs) {
  if (!file.ends_with(".npy")) return tensor::write_npz(file, outputs);
  if (outputs.size() != 1)
    fail_usage("{} holds one tensor, the model has {}: use .npz", file, outputs.size());
  tensor::write_npy(file, outputs.front().second);
}

/// Refuses int8 without calibrated ranges: ranges from generated inputs are good enough to measure speed, but
/// the outputs would be meaningless.
void check_ranges(const RunOptions& options, const importer::Model& model) {
  const bool int8 = backend::parse_precision(options.precision) == tensor::Precision::kInt8;
  if (!int8 || model.graph == nullptr || !quantize::quantized_part(*model.graph).empty()) return;
  fail_usage(
      "int8 needs ranges: give hone build --precision int8 data with --calibrate and run that engine, or run "
      "a "
      "model that is quantized already");
}

std::unique_ptr<backend::Executable> load_executable(const RunOptions& options, const importer::Model& model,
                                                     const std::vector<InputSlot>& slots,
                                                     const std::vector<Tensor>& inputs) {
  check_ranges(options, model);
  backend::LoadOptions load;
  load.device = options.device;
  load.precision = backend::parse_precision(options.precision);
  load.threads = options.threads;
  const bool own = options.backend == backend::kOwnBackend;
  // The backend finds the input names of an archive by itself.
  for (size_t i = 0; i < slots.size() && model.graph != nullptr; ++i)
    load.input_shapes[slots[i].name] = inputs[i].shape();
  if (!own) return backend::make_backend(options.backend)->load(model, load);
  backend::BuildRequest request = backend::request_of(load);
  request.optimization_level = options.level;
  ProgressDisplay display(kPlainLineSeconds);
  request.progress = [&](const base::Progress& progress) { display.show(progress); };
  return backend::make_engine_executable(backend::build(backend::resolve(request, model)), options.threads,
                                         tensor::parse_place(options.device));
}

/// Adds the engine's file to errors, because the engine may be for another machine.
std::unique_ptr<backend::Executable> load_stored(const RunOptions& options,
                                                 const std::shared_ptr<const engine::Engine>& engine) {
  try {
    std::optional<tensor::Place> place;
    if (options.device_option->count() > 0) place = tensor::parse_place(options.device);
    return backend::make_engine_executable(engine, options.threads, place);
  } catch (const Error& error) {
    throw error.within(options.model);
  }
}

/// A model may have no inputs; an archive does not say how many it has.
void check_inputs_given(const RunOptions& options, const importer::Model& model,
                        const std::vector<InputSlot>& slots) {
  if (!options.inputs.empty()) return;
  if (model.graph == nullptr) fail_usage("--input is required: {} has inputs", options.model);
  const auto free =
      std::find_if(slots.begin(), slots.end(), [](const InputSlot& slot) { return !slot.bound; });
  if (free == slots.end()) return;
  const auto more = std::count_if(free + 1, slots.end(), [](const InputSlot& slot) { return !slot.bound; });
  fail_usage(
      "--input is required: {} has the input '{}', {}{}: give --input {}:FILE.npy, .npz files or images",
      options.model, free->name, free->type.text(), more == 0 ? "" : fmt::format(", and {} more", more),
      free->name);
}

std::vector<engine::Carry> carries_of(const RunOptions& options, const importer::Model& model) {
  if (options.bind.empty()) return {};
  if (model.graph == nullptr)
    fail_usage("--bind needs the names of inputs and outputs, which {} does not hold", options.model);
  return engine::parse_carries(*model.graph, options.bind);
}

/// Names an output of one of several runs run0/NAME; of a single run only NAME.
std::string output_of_run(const importer::Model& model, size_t output, size_t run, size_t runs) {
  const std::string name = output_name(model, output);
  return runs == 1 ? name : fmt::format("run{}/{}", run, name);
}

/// Runs an engine that holds caches of a fixed capacity.
tensor::NamedTensors run_fixed(const RunOptions& options, const std::shared_ptr<const engine::Engine>& engine,
                               const engine::FixedCaches& caches, const importer::Model& model,
                               const std::vector<RunInputs>& runs) {
  std::optional<tensor::Place> place;
  if (options.device_option->count() > 0) place = tensor::parse_place(options.device);
  const engine::Device& device = device::device_of_fingerprint(engine->fingerprint(), place);
  engine::FixedCacheRuns fixed(std::make_shared<engine::LoadedEngine>(engine, device, options.threads),
                               caches);
  tensor::NamedTensors outputs;
  for (size_t i = 0; i < runs.size(); ++i) {
    auto results = fixed.run(runs[i].tensors);
    for (size_t k = 0; k < results.size(); ++k) {
      if (!fixed.is_cache_output(k))
        outputs.emplace_back(output_of_run(model, k, i, runs.size()), std::move(results[k]));
    }
  }
  return outputs;
}

/// Runs the model on the inputs one after the other. Returns the unbound outputs of every run (named
/// run0/NAME and so on if there are several), then the bound outputs of the last run.
tensor::NamedTensors run_bound(backend::Executable& executable, const importer::Model& model,
                               const std::vector<RunInputs>& runs, engine::CarriedRuns* carried) {
  tensor::NamedTensors outputs;
  for (size_t i = 0; i < runs.size(); ++i) {
    auto results = carried->run(runs[i].tensors, [&](auto inputs) { return executable.run(inputs); });
    for (size_t k = 0; k < results.size(); ++k) {
      if (carried->is_carried_output(k)) continue;
      outputs.emplace_back(output_of_run(model, k, i, runs.size()), std::move(results[k]));
    }
  }
  for (size_t k = 0; k < model.graph->outputs.size(); ++k) {
    if (carried->is_carried_output(k)) outputs.emplace_back(output_name(model, k), carried->state(k));
  }
  return outputs;
}

/// Returns the inputs of the first run; values that files give for bound inputs become the initial state.
std::vector<Tensor> first_inputs(const std::vector<InputSlot>& slots, const RunInputs& first,
                                 engine::CarriedRuns* carried) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].bound && first.tensors[i].defined()) carried->set(i, first.tensors[i]);
  }
  return carried->next_inputs(first.tensors);
}

/// Runs the model once or, if outputs are bound to inputs, once for each set of inputs.
tensor::NamedTensors run_executable(const RunOptions& options,
                                    const std::shared_ptr<const engine::Engine>& engine,
                                    const importer::Model& model, const std::vector<InputSlot>& slots,
                                    const std::vector<engine::Carry>& carries,
                                    const std::vector<RunInputs>& runs) {
  std::optional<engine::CarriedRuns> carried;
  if (!carries.empty()) carried.emplace(*model.graph, carries);
  const std::vector<Tensor> first =
      carried ? first_inputs(slots, runs.front(), &*carried) : runs.front().tensors;
  const auto executable =
      engine != nullptr ? load_stored(options, engine) : load_executable(options, model, slots, first);
  tensor::NamedTensors outputs;
  if (carried) {
    outputs = run_bound(*executable, model, runs, &*carried);
  } else {
    for (Tensor& output : executable->run(first))
      outputs.emplace_back(output_name(model, outputs.size()), std::move(output));
  }
  // Notes are printed after the run, because some backends know only then which program ran.
  for (const std::string& note : executable->notes())
    fmt::print(stderr, "note: {}\n", report::printable(note));
  return outputs;
}

/// Marks the inputs that the engine provides itself; they take no files.
void mark_own_inputs(const RunOptions& options, const engine::FixedCaches& caches,
                     std::vector<InputSlot>* slots) {
  if (!options.bind.empty())
    fail_usage("--bind is for models: the engine {} has bound its caches", options.model);
  for (const engine::Carry& cache : caches.caches) (*slots)[cache.input].bound = true;
  (*slots)[caches.length_input].bound = true;
}

void refuse_own_inputs(const std::vector<InputSlot>& slots, const RunInputs& first) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].bound && first.tensors[i].defined())
      fail_usage("input '{}' is the engine's own: it was built to bind its caches", slots[i].name);
  }
}

void print_note(const std::string& note) {
  if (!note.empty()) fmt::print(stderr, "note: {}\n", report::printable(note));
}

/// Notes NaN and infinite inputs: a kernel may turn them into outputs that look valid.
void note_values(const std::vector<InputSlot>& slots, const std::vector<RunInputs>& runs) {
  for (const RunInputs& run : runs) {
    for (size_t i = 0; i < run.tensors.size(); ++i) {
      const Tensor& tensor = run.tensors[i];
      if (!tensor.defined() || !tensor::is_floating(tensor.dtype())) continue;
      const std::vector<double> values = tensor.to_double();
      const auto odd =
          std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
      if (odd > 0)
        print_note(fmt::format("{} of {} values of input '{}' are NaN or infinite: outputs mean nothing", odd,
                               values.size(), slots[i].name));
    }
  }
}

/// Returns " = 0.25 0.75" if there are few values, else their range and mean.
std::string values_text(const Tensor& tensor) {
  constexpr size_t kFew = 8;
  if (tensor.size() == 0) return "";
  const std::vector<double> values = tensor.to_double();
  if (values.size() <= kFew) return fmt::format(" = {:.6g}", fmt::join(values, " "));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return fmt::format("  {:.6g} to {:.6g}, mean {:.6g}", *least, *most, mean);
}

void run(const RunOptions& options) {
  check_output(options);
  const bool stored = engine::is_engine_file(options.model);
  if (stored) {
    const std::string reason =
        fmt::format("is for models: the engine {} was built with its own", options.model);
    refuse_given(options.fixed_by_engine, reason);
    if (options.backend != backend::kOwnBackend) fail_usage("--backend {}", reason);
  }
  const auto engine = stored ? engine::load_engine(options.model) : nullptr;
  importer::LoadModelOptions load = options.load;
  load.given = names_in(options.inputs);
  // With --top, only the first output is needed; if all sections of a darknet network were outputs, the first
  // would be that of the first section.
  if (load.outputs.empty() && options.top == 0) load.outputs = {"all"};
  const importer::Model model =
      stored ? importer::Model{engine->model, options.model, engine->graph, engine->metadata}
             : importer::load_model(options.model, load);
  const auto caches = stored ? engine::fixed_caches_of(*engine) : std::nullopt;
  const std::vector<engine::Carry> carries =
      caches ? std::vector<engine::Carry>() : carries_of(options, model);
  std::vector<InputSlot> slots = input_slots(model, options.inputs.size(), carries);
  if (caches) mark_own_inputs(options, *caches, &slots);
  check_inputs_given(options, model, slots);
  const importer::Preprocessing preprocessing = preprocessing_for(options.images, model.metadata);
  const auto layout = layout_for(options.images);
  const std::vector<RunInputs> runs =
      carries.empty() && !caches ? std::vector{read_run_inputs(slots, options.inputs, preprocessing, layout)}
                                 : read_bound_inputs(slots, options.inputs, preprocessing, layout);
  if (caches) refuse_own_inputs(slots, runs.front());
  if (!stored) print_note(random_weights_note(options.model, options.load));
  note_values(slots, runs);
  note_fitted(runs.front().fitted);
  if (runs.front().images.empty()) refuse_given(options.of_images, "is for images: no --input is one");
  const tensor::NamedTensors outputs = speaking_of(options.model, [&] {
    return caches ? run_fixed(options, engine, *caches, model, runs)
                  : run_executable(options, engine, model, slots, carries, runs);
  });
  if (!options.output.empty()) write_outputs(options.output, outputs);
  if (options.top > 0) {
    // Index of the first output of the last run.
    const size_t free = outputs.size() - carries.size();
    return print_top(outputs.at(free - free / runs.size()).second, runs.front(),
                     task::names_from(model.metadata), static_cast<size_t>(options.top));
  }
  for (const auto& [name, tensor] : outputs) {
    fmt::print("{}  {}[{}]{}\n", report::printable(name), tensor::dtype_name(tensor.dtype()),
               tensor::shape_text(tensor.shape()), values_text(tensor));
  }
}

}  // namespace

void add_run_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("run", "Run a model on files of inputs");
  auto options = std::make_shared<RunOptions>();
  command
      ->add_option("model", options->model,
                   "An engine, an .onnx, .cfg or .pt file, or a built-in architecture")
      ->required();
  command->add_option("--input", options->inputs, ".npy (also NAME:FILE), .npz, PNG or JPEG files");
  command->add_option("--bind", options->bind,
                      "INPUT=OUTPUT: the output becomes the input of the next run; past.*=present.* binds "
                      "all that match. Several files of an input are used by successive runs");
  command->add_option("-o,--output", options->output, "Write the outputs to this .npz (or .npy) file");
  command->add_option("--backend", options->backend, "Backend that runs the model")->capture_default_str();
  const CLI::Option* level =
      command
          ->add_option("--builderOptimizationLevel", options->level,
                       "Search effort: 0 times nothing, 3 times tactics first, as hone build does")
          ->check(CLI::Range(0, 5))
          ->capture_default_str();
  options->device_option = add_device_option(*command, options->device);
  const CLI::Option* precision =
      command->add_option("--precision", options->precision, "fp32, tf32, bf16, fp16 or int8")
          ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of the model")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--top", options->top, "Print this many of the most likely classes")
      ->check(CLI::Range(1, 100000));
  const CLI::Option* outputs =
      command
          ->add_option("--outputs", options->load.outputs,
                       "Sections of a darknet network to output: heads, or layer_I,layer_J (default: all)")
          ->delimiter(',');
  options->fixed_by_engine = add_model_options(*command, options->load);
  options->fixed_by_engine.insert(options->fixed_by_engine.end(), {precision, outputs, level});
  options->of_images = add_image_options(*command, options->images);
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
