// See subject_options.hpp.
#include "cli/subject_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/image_options.hpp"
#include "cli/model_options.hpp"
#include "cli/run_inputs.hpp"
#include "import/image/preprocess.hpp"
#include "import/importer.hpp"

namespace hone::cli {

OptionList add_subject_options(CLI::App& command, SubjectOptions& options) {
  OptionList list = add_model_options(command, options.parameters);
  list.push_back(add_dim_option(command, options.parameters));
  list.insert(
      list.end(),
      {command.add_option("--input", options.inputs,
                          "Real inputs with samples along the first dimension: .npy (also NAME:FILE), .npz, "
                          "PNG or JPEG files (default: generated)"),
       command
           .add_option("--values", options.values, "NAME:NUMBER sets all elements of an input, as sr:16000")
           ->delimiter(',')});
  return list;
}

bench::GivenInputs given_inputs(const SubjectOptions& options, const importer::Model& model) {
  bench::GivenInputs given{.constants = bench::parse_constants(options.values)};
  if (options.inputs.empty()) return given;
  if (model.graph == nullptr)
    fail_usage("--input needs the names of inputs, which {} does not hold", model.name);
  std::vector<InputSlot> slots;
  for (const graph::ValueId id : model.graph->inputs) {
    const graph::Value& value = model.graph->value(id);
    slots.push_back({.name = value.name, .type = value.type, .optional = true});
  }
  const RunInputs inputs =
      read_run_inputs(slots, options.inputs, importer::preprocessing_from(model.metadata), std::nullopt);
  note_fitted(inputs.fitted, ".npy and .npz files are taken as they are");
  for (size_t i = 0; i < slots.size(); ++i) {
    if (inputs.tensors[i].defined()) given.arrays[slots[i].name] = inputs.tensors[i];
  }
  return given;
}

OptionList add_decoding_options(CLI::App& command, bench::Decoding& decoding) {
  CLI::Option* bind = command.add_option("--bind", decoding.bind,
                                         "INPUT=OUTPUT: caches of a decoder, as past_key_values.*=present.*");
  CLI::Option* context =
      command
          .add_option("--context", decoding.context,
                      "Position of the token to measure; the bound caches hold the tokens before it")
          ->needs(bind)
          ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  return {bind, context};
}

void refuse_batch_size(const SubjectOptions& options, const importer::Model& model) {
  if (options.parameters.sizes.empty() || model.graph == nullptr) return;
  for (const graph::ValueId id : model.graph->inputs) {
    const graph::Value& input = model.graph->value(id);
    if (!input.type.ranked() || input.type.dims->empty()) continue;
    const std::string& symbol = input.type.dims->front().symbol();
    if (const auto found = options.parameters.sizes.find(symbol); found != options.parameters.sizes.end())
      fail_usage("--dim {}={}: this dimension is the batch; give --batches {}", symbol, found->second,
                 found->second);
  }
}

std::vector<std::string> worker_command(const SubjectOptions& options) {
  std::vector<std::string> command = {std::filesystem::canonical("/proc/self/exe").string(), "worker",
                                      "--seed", std::to_string(options.parameters.seed)};
  if (!options.parameters.weights.empty()) {
    command.emplace_back("--weights");
    command.push_back(std::filesystem::absolute(options.parameters.weights).string());
  }
  if (!options.parameters.darknet_rules.empty()) {
    command.emplace_back("--darknet-rules");
    command.push_back(options.parameters.darknet_rules);
  }
  return command;
}

std::string random_weights_note(const std::string& model, const importer::LoadModelOptions& parameters) {
  std::error_code unknown;
  if (!parameters.weights.empty() || std::filesystem::exists(model, unknown)) return "";
  const auto has_name = [&](const importer::Importer& importer) {
    return importer.names != nullptr && std::ranges::count(importer.names(), model) > 0;
  };
  const auto own = std::ranges::find_if(importer::importers(), has_name);
  // Other names are refused when the model is loaded.
  if (own == importer::importers().end()) return "";
  return fmt::format(
      "the weights of {} are random (seed {}): its outputs mean nothing; --weights FILE.{} gives it trained "
      "ones",
      model, parameters.seed, own->has_sections ? "weights" : "safetensors");
}

}  // namespace hone::cli
