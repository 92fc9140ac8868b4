// Tables that the help of commands is arranged by: groups of options, examples, words for values.
#pragma once

#include <span>
#include <string_view>

namespace hone::cli {

/// Options of a command that stand under one heading in its help.
struct HelpGroup {
  std::string_view command;
  std::string_view group;
  std::string_view options;
};

/// Word for an option's value, and the options that it stands for; others take "TEXT".
struct HelpPlaceholder {
  std::string_view word;
  std::string_view options;
};

/// A line of a command's help; of `hone --help` where the command is empty.
struct HelpExample {
  std::string_view command;
  std::string_view line;
};

/// Options that no group names stand under "Options".
std::span<const HelpGroup> help_groups();
std::span<const HelpExample> help_examples();
std::span<const HelpPlaceholder> help_placeholders();

}  // namespace hone::cli
