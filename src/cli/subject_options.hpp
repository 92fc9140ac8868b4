// Options of commands that measure a model: its parameters and the values of its inputs.
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

/// Adds the options of add_model_options(), --dim, --input and --values.
OptionList add_subject_options(CLI::App& command, SubjectOptions& options);

/// Adds --bind and --context.
OptionList add_decoding_options(CLI::App& command, bench::Decoding& decoding);

/// Throws a usage error if --dim names the batch of the model, because --batches sets that.
void refuse_batch_size(const SubjectOptions& options, const importer::Model& model);

/// Returns the inputs that the files and numbers give. Bad input names the file; a value for an unknown input
/// is a usage error.
bench::GivenInputs given_inputs(const SubjectOptions& options, const importer::Model& model);

/// Returns the command line of this program's worker, with the options about parameters.
std::vector<std::string> worker_command(const SubjectOptions& options);

/// Returns "weights are random …" for a built-in architecture without given parameters, else an empty text.
std::string random_weights_note(const std::string& model, const importer::LoadModelOptions& parameters);

}  // namespace hone::cli
