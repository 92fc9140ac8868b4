// Accepts option names as people type them: singular or plural, in another case, or under the name of another
// tool; and explains unknown words.
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
  /// The command that the entry applies to; empty: every command that has the replacement.
  std::string_view command;
  /// Its replacement: options, of which the last takes the value, or "MODEL" for the positional argument.
  /// Empty if hone has no such option.
  std::string_view words;
  /// Explanation for the user, if there is no replacement or if more must be known.
  std::string_view remark;
};

std::span<const ForeignOption> foreign_options();

/// Returns the words of a command line with names replaced by those that this program knows.
std::vector<std::string> with_known_names(const CLI::App& program, std::vector<std::string> words);

/// Returns a clause about a word that is neither a command nor an option of `command`, with a suggestion.
std::string unknown_word(const CLI::App& program, const CLI::App* command, const std::string& word);

/// Returns a table of other tools' options and their names in hone.
std::string foreign_table();

}  // namespace hone::cli
