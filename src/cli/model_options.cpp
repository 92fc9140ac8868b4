// See model_options.hpp.
#include "cli/model_options.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <set>

#include "report/terminal/sheet.hpp"

namespace hone::cli {

OptionList add_model_options(CLI::App& command, importer::LoadModelOptions& options) {
  options.warn = print_warning;
  return {
      command.add_option("--weights", options.weights,
                         "Parameters: a .safetensors file for a built-in architecture, a .weights file for a "
                         "darknet network (default for NAME.cfg: NAME.weights beside it)"),
      command.add_option("--seed", options.seed, "Seed of the parameters when no file gives them")
          ->capture_default_str(),
      command.add_option("--darknet-rules", options.darknet_rules,
                         "Whose program a darknet network is for: alexeyab (default) or pjreddie "
                         "(docs/DARKNET.md)")};
}

void print_warning(const std::string& text) {
  static std::set<std::string> printed;
  if (printed.insert(text).second) fmt::print(stderr, "warning: {}\n", report::printable(text));
}

}  // namespace hone::cli
