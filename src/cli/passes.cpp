// `hone passes`: the rewrites of a graph in the order they run, for --disable-pass and for the docs.
#include <fmt/core.h>

#include "cli/command.hpp"
#include "transform/pass.hpp"

namespace hone::cli {

void add_passes_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("passes", "List the passes that optimise a graph");
  command->callback([] {
    for (const transform::Pass& pass : transform::passes()) {
      fmt::print("{:<31} {}\n", pass.name, pass.description);
    }
  });
}

}  // namespace hone::cli
