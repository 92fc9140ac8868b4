// `hone passes`: lists the passes in the order in which they run, with the names for --disable-pass.
#include <fmt/core.h>

#include "cli/command.hpp"
#include "transform/pass.hpp"

namespace hone::cli {

void add_passes_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("passes", "List the passes that optimize a graph");
  command->callback([] {
    const size_t width = transform::longest_pass_name();
    for (const transform::Pass& pass : transform::passes()) {
      fmt::print("{:<{}} {}\n", pass.name, width, pass.description);
    }
  });
}

}  // namespace hone::cli
