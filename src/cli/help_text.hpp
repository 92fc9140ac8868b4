// Formats --help (groups of options, wrapped to the terminal, with examples), and generates the man page and
// shell completions from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone::cli {

/// Gives the program and its commands their groups, examples and formatter. Throws an internal error if a
/// group names an option that the command lacks.
void arrange_help(CLI::App& program);

/// Returns the page hone(1) in man's markup.
std::string man_page(const CLI::App& program);

/// Returns a script that completes commands, options and files. A shell other than bash, zsh and fish is a
/// usage error.
std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace hone::cli
