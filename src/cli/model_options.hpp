// Options of commands that load a model: where its parameters come from, and how darknet's files are read.
#pragma once

#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "import/load.hpp"

namespace hone::cli {

/// --weights, --seed and --darknet-rules; makes warnings go to standard error. Returns them: none of them is
/// for an engine that is already built.
OptionList add_model_options(CLI::App& command, importer::LoadModelOptions& options);

/// --dim, which goes into the sizes of the options.
CLI::Option* add_dim_option(CLI::App& command, importer::LoadModelOptions& options);

/// "warning: …" on standard error, once for each text.
void print_warning(const std::string& text);

}  // namespace hone::cli
