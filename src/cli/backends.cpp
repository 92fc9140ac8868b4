// `hone backends`: which systems can run models here, and what is missing for the others.
#include <fmt/core.h>

#include "backend/backend.hpp"
#include "cli/command.hpp"

namespace hone::cli {

void add_backends_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("backends", "List the systems that can run models here");
  command->callback([] {
    for (const std::string& name : backend::backend_names()) {
      try {
        fmt::print("{:<12} {}\n", name, backend::make_backend(name)->version("cpu"));
      } catch (const Error& error) {
        fmt::print("{:<12} not available: {}\n", name, error.what());
      }
    }
  });
}

}  // namespace hone::cli
