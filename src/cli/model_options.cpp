// See model_options.hpp.
#include "cli/model_options.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include "base/error.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {

namespace {

void add_size(const std::string& item, std::map<std::string, int64_t>* sizes) {
  const size_t equals = item.rfind('=');
  int64_t size = 0;
  const char* const end = item.data() + item.size();
  const char* const begin = equals == std::string::npos ? end : item.data() + equals + 1;
  const auto [stop, error] = std::from_chars(begin, end, size);
  if (equals == std::string::npos || equals == 0 || error != std::errc() || stop != end || size < 1)
    fail_usage("a dimension is written NAME=SIZE, as in --dim seq=128, not '{}'", item);
  if (!sizes->emplace(item.substr(0, equals), size).second)
    fail_usage("the dimension {} is given two sizes", item.substr(0, equals));
}

}  // namespace

OptionList add_model_options(CLI::App& command, importer::LoadModelOptions& options) {
  options.warn = print_warning;
  return {
      command.add_option("--weights", options.weights,
                         "Weights: a .safetensors file for a built-in architecture, a .weights file for a "
                         "darknet network (default for NAME.cfg: NAME.weights in the same folder)"),
      command.add_option("--seed", options.seed, "Seed of random weights, where no file gives them")
          ->capture_default_str(),
      command.add_option("--darknet-rules", options.darknet_rules,
                         "Dialect of a darknet network: alexeyab (default) or pjreddie (docs/DARKNET.md)")};
}

CLI::Option* add_dim_option(CLI::App& command, importer::LoadModelOptions& options) {
  const auto take = [&options](const std::vector<std::string>& items) {
    for (const std::string& item : items) add_size(item, &options.sizes);
  };
  return command
      .add_option_function<std::vector<std::string>>(
          "--dim", take, "Size of an open dimension by its name in the model, as seq=128")
      ->delimiter(',');
}

void print_warning(const std::string& text) {
  static std::set<std::string> printed;
  if (printed.insert(text).second) fmt::print(stderr, "warning: {}\n", report::printable(text));
}

}  // namespace hone::cli
