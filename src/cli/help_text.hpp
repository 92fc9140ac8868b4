// The look of --help: options in groups, wrapped to the terminal, with examples; and what is made of it, a
// man page and completions for shells.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone::cli {

/// Gives the program and its commands their groups, examples and formatter. Internal error for a group that
/// names an option which a command lacks.
void arrange_help(CLI::App& program);

/// The page hone(1), in the language of man.
std::string man_page(const CLI::App& program);

/// A script that completes commands, options and files; usage error for a shell that is none of bash, zsh and
/// fish.
std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace hone::cli
