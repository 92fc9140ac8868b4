// Tables that arrange the help of commands: groups of options, examples, and placeholders for values.
#pragma once

#include <span>
#include <string_view>

namespace hone::cli {

/// Options of a command that appear under one heading in its help.
struct HelpGroup {
  std::string_view command;
  std::string_view group;
  std::string_view options;
};

/// Placeholder for the value of some options; the value of any other option is "TEXT".
struct HelpPlaceholder {
  std::string_view word;
  std::string_view options;
};

/// A line of examples in the help of a command; an empty command is `hone --help`.
struct HelpExample {
  std::string_view command;
  std::string_view line;
};

/// Options that are in no group appear under "Options".
std::span<const HelpGroup> help_groups();
std::span<const HelpExample> help_examples();
std::span<const HelpPlaceholder> help_placeholders();

}  // namespace hone::cli
