// Options of commands that measure a model: its parameters, and the values of its inputs.
#pragma once

#include <string>
#include <vector>

#include "bench/worker/decoding.hpp"
#include "bench/worker/given_inputs.hpp"
#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "import/load.hpp"

namespace hone::cli {

struct SubjectOptions {
  importer::LoadModelOptions parameters;
  std::vector<std::string> inputs;
  std::vector<std::string> values;
};

/// Options of add_model_options(), --dim, --input and --values.
OptionList add_subject_options(CLI::App& command, SubjectOptions& options);

/// --bind and --context.
OptionList add_decoding_options(CLI::App& command, bench::Decoding& decoding);

/// Usage error for a --dim that names the batch of the model, which --batches gives.
void refuse_batch_size(const SubjectOptions& options, const importer::Model& model);

/// The inputs of a model that the files and numbers give. Bad input naming a file, usage error for one that
/// is no array of the model's.
bench::GivenInputs given_inputs(const SubjectOptions& options, const importer::Model& model);

/// The worker of this program, with the parameters of the options.
std::vector<std::string> worker_command(const SubjectOptions& options);

/// "weights are random …" where the model is a built-in architecture without parameters of its own, else
/// empty.
std::string random_weights_note(const std::string& model, const importer::LoadModelOptions& parameters);

}  // namespace hone::cli
