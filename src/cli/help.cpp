// `hone help` and `hone completion`: prints the help of commands in other forms.
#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/help_text.hpp"
#include "cli/option_names.hpp"

namespace hone::cli {
namespace {

std::string topic_text(const CLI::App& program, const std::string& topic) {
  // CLI11 would print the help of the parsed command, which is `hone help` itself.
  if (topic.empty()) return program.get_formatter()->make_help(&program, "", CLI::AppFormatMode::Normal);
  if (topic == "foreign") return foreign_table();
  if (topic == "man") return man_page(program);
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == topic) return command->help();
  }
  fail_usage("{}; hone help explains commands, foreign and man", unknown_word(program, nullptr, topic));
}

}  // namespace

void add_help_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("help", "Explain a command, or list the options of other tools");
  const auto topic = std::make_shared<std::string>();
  command->add_option("topic", *topic, "A command, foreign (options of other tools) or man (the man page)");
  command->callback([&program, topic] { fmt::print("{}", topic_text(program, *topic)); });
}

void add_completion_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback([&program, shell] { fmt::print("{}", completion_script(program, *shell)); });
}

}  // namespace hone::cli
