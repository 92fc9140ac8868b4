// Names of options as people type them: singular or plural, in another case, or as another tool calls them;
// and what is said of a word that is none.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

/// An option of another tool.
struct ForeignOption {
  std::string_view tool;
  std::string_view name;
  /// The command that it is for; empty: every one that has what it stands for.
  std::string_view command;
  /// Its replacement: options, of which the last takes its value; "MODEL" for the positional argument. Empty
  /// where hone has no such option.
  std::string_view words;
  /// For people, where there are no words, or more is to be known.
  std::string_view remark;
};

std::span<const ForeignOption> foreign_options();

/// The words of a command line with names that this program's commands know.
std::vector<std::string> with_known_names(const CLI::App& program, std::vector<std::string> words);

/// One clause about a word that is neither a command nor an option of `command`, with the likely intention.
std::string unknown_word(const CLI::App& program, const CLI::App* command, const std::string& word);

/// Options of other tools and what they are called here, as a table.
std::string foreign_table();

}  // namespace hone::cli
