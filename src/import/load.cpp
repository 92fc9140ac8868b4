// See load.hpp.
#include "import/load.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/spelling.hpp"
#include "import/foreign_file.hpp"
#include "import/importer.hpp"
#include "import/typical_sizes.hpp"

namespace hone::importer {
namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) {
    if (importer.names != nullptr) std::ranges::copy(importer.names(), std::back_inserter(names));
  }
  return names;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::vector<std::string> names = all_names();
  const std::optional<std::string> nearest = base::nearest_name(name, names);
  fail_usage("'{}' is neither a file nor a built-in architecture{} Files are {}; architectures are {}", name,
             nearest ? fmt::format("; did you mean {}?", *nearest) : ".", file_kinds(),
             fmt::join(names, ", "));
}

/// The importer that has a built-in model of this name; null if none has.
const Importer* importer_with(const std::string& name) {
  for (const Importer& importer : importers()) {
    if (importer.names == nullptr) continue;
    const std::vector<std::string> names = importer.names();
    if (std::ranges::find(names, name) != names.end()) return &importer;
  }
  return nullptr;
}

bool is_all(const std::vector<std::string>& outputs) {
  return outputs.size() == 1 && outputs.front() == "all";
}

/// Symbols of the dimensions that inputs leave open, each once.
std::vector<std::string> open_symbols(const graph::Graph& graph) {
  std::vector<std::string> symbols;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    if (!input.type.ranked()) continue;
    for (const graph::Dim& dim : *input.type.dims) {
      if (dim.symbol().empty() || std::ranges::find(symbols, dim.symbol()) != symbols.end()) continue;
      symbols.push_back(dim.symbol());
    }
  }
  return symbols;
}

void set_sizes(const std::map<std::string, int64_t>& sizes, Model* model) {
  if (sizes.empty()) return;
  if (model->graph == nullptr)
    fail_usage("--dim is for models whose dimensions have names; give --shapes for {}", model->name);
  const std::vector<std::string> symbols = open_symbols(*model->graph);
  for (const auto& [symbol, size] : sizes) {
    if (std::ranges::find(symbols, symbol) == symbols.end())
      fail_usage(
          "--dim {}={}: {}", symbol, size,
          symbols.empty()
              ? fmt::format("the inputs of {} have no open dimension with a name", model->name)
              : fmt::format("the open dimensions of {} are {}", model->name, fmt::join(symbols, ", ")));
    set_typical_size(symbol, size, &model->metadata);
  }
}

Model load_by(const Importer& importer, const std::string& model, const LoadModelOptions& options) {
  if (!options.weights.empty() && !importer.takes_weights)
    fail_usage("--weights goes with built-in architectures and darknet's cfg files; {} brings its own",
               model);
  if (!importer.has_sections && !options.outputs.empty() && !is_all(options.outputs))
    fail_usage("--outputs chooses sections of a darknet network, which {} is not", model);
  if (!importer.has_sections && !options.darknet_rules.empty())
    fail_usage("--darknet-rules is for darknet networks, and {} is none", model);
  Model loaded = importer.load(model, options);
  set_sizes(options.sizes, &loaded);
  return loaded;
}

}  // namespace

Model load_model(const std::string& name_or_path, const LoadModelOptions& options) {
  if (const Importer* importer = importer_with(name_or_path))
    return load_by(*importer, name_or_path, options);
  const std::filesystem::path file(name_or_path);
  if (!file.has_extension() && !file.has_parent_path() && !std::filesystem::exists(file))
    fail_unknown(name_or_path);
  if (std::filesystem::is_directory(file)) {
    const std::string foreign = foreign_file(file);
    throw Error(ErrorKind::kBadInput, foreign.empty() ? "it is a directory" : foreign, file.string());
  }
  return load_by(importer_of(file), name_or_path, options);
}

}  // namespace hone::importer
