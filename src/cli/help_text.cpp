// See help_text.hpp.
#include "cli/help_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "cli/help_tables.hpp"
#include "cli/option_checks.hpp"
#include "cli/terminal.hpp"

namespace hone::cli {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kMostWidth = 120;
constexpr size_t kLeastWidth = 40;
constexpr size_t kNameColumn = 28;

constexpr std::string_view kTensorRt = "TensorRT";

/// The width that the user's shell or script sets for outputs that are no terminal.
std::optional<size_t> columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  size_t columns = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  const bool good = error == std::errc() && end == digits.data() + digits.size() && columns > 0;
  return good ? std::optional(columns) : std::nullopt;
}

size_t help_width() {
  auto columns = terminal_columns(STDOUT_FILENO);
  if (!columns) columns = columns_of_environment();
  return columns ? std::clamp<size_t>(*columns, kLeastWidth, kMostWidth) : kWidth;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return words;
}

/// Appends text to a line whose end is at `column`. Lines are broken at the width, and continuation lines
/// begin at `indent`.
void append_wrapped(std::string* out, std::string_view text, size_t column, size_t indent, size_t width) {
  bool first = true;
  for (const std::string& word : words_of(text)) {
    if (!first && column + 1 + word.size() > width) {
      *out += "\n" + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    *out += first ? word : " " + word;
    column += word.size() + (first ? 0 : 1);
    first = false;
  }
  *out += "\n";
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

bool is_among(std::string_view words, const std::string& word) {
  const std::vector<std::string> all = words_of(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

/// Returns "N", "X" or a word from the table, followed by dots if the option takes several values.
std::string placeholder(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::string one = "TEXT";
  if (type.starts_with("INT") || type.starts_with("UINT")) {
    one = "N";
  } else if (type.starts_with("FLOAT")) {
    one = "X";
  } else {
    for (const HelpPlaceholder& known : help_placeholders()) {
      for (const std::string& name : option.get_lnames()) {
        if (is_among(known.options, "--" + name)) one = known.word;
      }
    }
  }
  return option.get_items_expected_max() > 1 ? one + "..." : one;
}

/// Converts CLI11's form of a default list, "[svg,png]", to "svg png".
std::string default_text(const CLI::Option& option) {
  std::string value = option.get_default_str();
  if (option.get_items_expected_max() <= 1 || !value.starts_with('[') || !value.ends_with(']')) return value;
  value = value.substr(1, value.size() - 2);
  std::replace(value.begin(), value.end(), ',', ' ');
  return value;
}

/// Returns the choices of a list option as "a, b"; empty if it has no such list.
std::string choice_text(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find(":{");
  if (open == std::string::npos) return "";
  std::string list = type.substr(open + 2, type.find('}', open) - open - 2);
  for (size_t at = list.find(','); at != std::string::npos; at = list.find(',', at + 2))
    list.replace(at, 1, ", ");
  return list;
}

std::string names_text(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  return is_flag(option) ? text : text + " " + placeholder(option);
}

/// "1 to 64"; "at least 1" if the upper limit has ten digits, since it only guards against overflow.
std::string limits_text(const CLI::Option& option) {
  constexpr std::string_view kBetween = " to ";
  constexpr size_t kDigitsOfGuard = 10;
  const std::string range = range_text(option.get_type_name());
  const size_t between = range.find(kBetween);
  if (between == std::string::npos || range.size() - between - kBetween.size() < kDigitsOfGuard) return range;
  return range.starts_with('-') ? "" : "at least " + range.substr(0, between);
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const std::string choices = choice_text(option); !choices.empty()) text += " (" + choices + ")";
  std::vector<std::string> remarks;
  if (const std::string limits = limits_text(option); !limits.empty()) remarks.push_back(limits);
  if (const std::string value = default_text(option); !value.empty()) remarks.push_back("default " + value);
  for (const CLI::Option* needed : option.get_needs()) remarks.push_back("with " + needed->get_name());
  return remarks.empty() ? text : fmt::format("{} [{}]", text, fmt::join(remarks, ", "));
}

void append_entry(std::string* out, const std::string& name, const std::string& description, size_t width) {
  *out += "  " + name;
  size_t column = 2 + name.size();
  if (column + 2 > kNameColumn) {
    *out += "\n" + std::string(kNameColumn, ' ');
  } else {
    *out += std::string(kNameColumn - column, ' ');
  }
  append_wrapped(out, description, kNameColumn, kNameColumn, width);
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

/// Returns the groups in the order of the table, followed by groups that are not in the table.
std::vector<std::string> groups_of(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const HelpGroup& group : help_groups()) {
    if (group.command == app.get_name()) groups.emplace_back(group.group);
  }
  for (const CLI::Option* option : options_of(app)) {
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  }
  return groups;
}

std::vector<std::string> examples_of(const CLI::App& app) {
  const std::string name = app.get_parent() == nullptr ? "" : app.get_name();
  std::vector<std::string> lines;
  for (const HelpExample& example : help_examples()) {
    if (example.command == name) lines.emplace_back(example.line);
  }
  return lines;
}

std::string usage_of(const CLI::App& app) {
  std::string text = app.get_parent() == nullptr ? "hone COMMAND" : "hone " + app.get_name();
  for (const CLI::Option* option : positionals_of(app)) {
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_required()) text += fmt::format(" {} {}", option->get_name(), placeholder(*option));
  }
  return text + " [options]";
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string help_of(const CLI::App& app, size_t width) {
  std::string text;
  append_wrapped(&text, app.get_description(), 0, 0, width);
  append_wrapped(&text, "Usage: " + usage_of(app), 0, 2, width);
  if (const auto positionals = positionals_of(app); !positionals.empty()) {
    text += "\n";
    for (const CLI::Option* option : positionals)
      append_entry(&text, option->get_name(true), description_of(*option), width);
  }
  if (const auto commands = commands_of(app); !commands.empty()) {
    text += "\nCommands:\n";
    for (const CLI::App* command : commands)
      append_entry(&text, command->get_name(), command->get_description(), width);
  }
  for (const std::string& group : groups_of(app)) {
    text += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options_of(app)) {
      if (option->get_group() == group)
        append_entry(&text, names_text(*option), description_of(*option), width);
    }
  }
  text += "\nExamples:\n";
  for (const std::string& line : examples_of(app)) text += fmt::format("  {}\n", line);
  if (app.get_parent() == nullptr)
    text += "\nhone COMMAND --help explains a command, hone help foreign lists the options of other tools.\n";
  return text;
}

class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    return help_of(*app, help_width());
  }
};

/// Escapes text for a man page, where a hyphen needs a backslash to be a minus, and a dot at the start of a
/// line begins a command.
std::string man_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '-')
      result += "\\-";
    else if (c == '\\')
      result += "\\\\";
    else
      result += c;
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

void append_man_options(std::string* out, const CLI::App& app) {
  for (const std::string& group : groups_of(app)) {
    *out += fmt::format(".P\n{}:\n", man_text(group));
    for (const CLI::Option* option : options_of(app)) {
      if (option->get_group() != group) continue;
      *out +=
          fmt::format(".TP\n.B {}\n{}\n", man_text(names_text(*option)), man_text(description_of(*option)));
    }
  }
}

/// Returns the long names of options, separated by spaces.
std::string completed_options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) text += (text.empty() ? "--" : " --") + name;
  }
  return text;
}

std::string command_names(const CLI::App& program) {
  std::string text;
  for (const CLI::App* command : commands_of(program))
    text += (text.empty() ? "" : " ") + command->get_name();
  return text;
}

/// zsh can use this script too, through bashcompinit.
std::string bash_completion(const CLI::App& program) {
  std::string cases;
  for (const CLI::App* command : commands_of(program))
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), completed_options(*command));
  return fmt::format(
      "_hone() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} words=\n  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n    return\n  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}    help) words=\"{} foreign man\" ;;\n  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  if [[ $current != -* ]]; then COMPREPLY+=($(compgen -f -- \"$current\")); fi\n}}\n"
      "complete -o filenames -F _hone hone\n",
      command_names(program), cases, command_names(program));
}

std::string fish_completion(const CLI::App& program) {
  const auto quoted = [](std::string text) {
    for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 2))
      text.insert(at, "\\");
    return "'" + text + "'";
  };
  std::string text;
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                        quoted(command->get_description()));
    for (const CLI::Option* option : options_of(*command)) {
      for (const std::string& name : option->get_lnames())
        text += fmt::format("complete -c hone -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n",
                            command->get_name(), name, is_flag(*option) ? "" : " -r",
                            quoted(option->get_description()));
    }
  }
  return text;
}

}  // namespace

void arrange_help(CLI::App& program) {
  program.formatter(std::make_shared<HelpFormat>());
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
    command->formatter(std::make_shared<HelpFormat>());
    for (const HelpGroup& group : help_groups()) {
      if (group.command != command->get_name()) continue;
      for (const std::string& name : words_of(group.options)) {
        CLI::Option* option = command->get_option_no_throw(name);
        if (option == nullptr)
          fail_internal("the help of {} groups {}, which is no option of it", group.command, name);
        option->group(std::string(group.group));
      }
    }
    for (CLI::Option* option : command->get_options()) {
      if (option->get_name().starts_with("--tensorrt-")) option->group(std::string(kTensorRt));
    }
  }
}

std::string man_page(const CLI::App& program) {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- {}\n.SH SYNOPSIS\n.B hone\nCOMMAND "
      "[options]\n",
      HONE_VERSION, man_text(program.get_description()));
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format(".SS {}\n{}\n.P\n.B {}\n", man_text(usage_of(*command)),
                        man_text(command->get_description()), man_text(usage_of(*command)));
    for (const CLI::Option* option : positionals_of(*command))
      text += fmt::format(".TP\n.I {}\n{}\n", option->get_name(true), man_text(description_of(*option)));
    append_man_options(&text, *command);
    for (const std::string& line : examples_of(*command))
      text += fmt::format(".P\n.EX\n{}\n.EE\n", man_text(line));
  }
  return text +
         ".SH EXIT STATUS\n0 good, 1 a bug of hone, 2 usage, 3 bad input, 4 environment, 5 a threshold or "
         "verdict "
         "failed.\n";
}

std::string completion_script(const CLI::App& program, const std::string& shell) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh")
    return "#compdef hone\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completion(program);
  if (shell == "fish") return fish_completion(program);
  fail_usage("completions are made for bash, zsh and fish, not for '{}'", shell);
}

}  // namespace hone::cli
