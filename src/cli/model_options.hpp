// Options of commands that load a model: the source of its parameters, and the dialect of darknet files.
#pragma once

#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "import/load.hpp"

namespace hone::cli {

/// Adds --weights, --seed and --darknet-rules, and sends warnings to standard error. Returns the options,
/// because none of them applies to an engine that is already built.
OptionList add_model_options(CLI::App& command, importer::LoadModelOptions& options);

/// Adds --dim, whose values go into the sizes in `options`.
CLI::Option* add_dim_option(CLI::App& command, importer::LoadModelOptions& options);

/// Prints "warning: …" to standard error, once for each text.
void print_warning(const std::string& text);

}  // namespace hone::cli
