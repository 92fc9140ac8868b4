// `hone ops`: lists the operators that models may use.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "base/spelling.hpp"
#include "cli/command.hpp"
#include "graph/operator_doc.hpp"
#include "import/onnx/expand/expansion.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  bool markdown = false;
};

void print_operator(const graph::OperatorDef& def) {
  const std::string since =
      def.since_version == 0 ? "made by passes" : fmt::format("since {}", def.since_version);
  fmt::print("{:<28} {:<15} inputs {:<10} outputs {}\n", def.name, since,
             graph::count_text(def.min_inputs, def.max_inputs),
             graph::count_text(def.min_outputs, def.max_outputs));
  for (const graph::AttributeDef& attribute : def.attributes) {
    fmt::print("    {}\n", graph::attribute_text(attribute));
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Suggests the operator with the most similar name, ignoring case ("; did you mean Conv?"), or else the
/// command that lists all.
std::string meant_instead(const std::string& name) {
  std::map<std::string, std::string> own_names;
  std::vector<std::string> names;
  for (const graph::OperatorDef& def : graph::operator_table()) {
    names.push_back(lower(std::string(def.name)));
    own_names.try_emplace(names.back(), def.name);
  }
  const auto nearest = base::nearest_name(lower(name), names);
  return nearest ? fmt::format("; did you mean {}?", own_names.at(*nearest)) : "; hone ops lists all";
}

void run(const Options& options) {
  if (options.markdown && !options.names.empty())
    fail_usage("--markdown writes all operators: name none with it");
  if (options.markdown) {
    fmt::print("{}{}", graph::operators_markdown(), importer::expansions_markdown());
    return;
  }
  if (options.names.empty()) {
    for (const graph::OperatorDef& def : graph::operator_table()) print_operator(def);
    return;
  }
  for (const std::string& name : options.names) {
    const graph::OperatorDef* def = graph::find_operator(name);
    if (def == nullptr) fail_usage("operator '{}' is not known{}", name, meant_instead(name));
    print_operator(*def);
  }
}

}  // namespace

void add_ops_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("ops", "List the operators that models may use");
  const auto options = std::make_shared<Options>();
  command->add_option("operator", options->names, "Show only these operators");
  command->add_flag("--markdown", options->markdown, "Write docs/OPERATORS.md, which has all of them");
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
