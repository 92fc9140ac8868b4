// See zoo.hpp.
#include "import/zoo/zoo.hpp"

#include "graph/verify.hpp"
#include "import/typical_sizes.hpp"
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

const ArchitectureEntry* find_architecture(std::string_view name) {
  for (const ArchitectureEntry& entry : architectures()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::unique_ptr<WeightSource> weight_source(const ArchitectureEntry& entry, const LoadModelOptions& options) {
  if (options.weights.empty()) return seeded_weights(options.seed);
  return file_weights(options.weights, entry.file_names);
}

Metadata metadata_of(const ArchitectureEntry& entry) {
  Metadata metadata = entry.classifies_images ? preprocessing_metadata() : Metadata{};
  for (const auto& [symbol, size] : entry.typical_sizes) set_typical_size(symbol, size, &metadata);
  return metadata;
}

}  // namespace

std::optional<graph::Graph> build_architecture(std::string_view name, const LoadModelOptions& options) {
  const ArchitectureEntry* entry = find_architecture(name);
  if (entry == nullptr) return std::nullopt;
  const auto weights = weight_source(*entry, options);
  GraphBuilder net(std::string(name), entry->seeding, *weights);
  entry->build(net);
  graph::Graph graph = net.finish();
  graph::verify(graph, "building the architecture");
  return graph;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const ArchitectureEntry& entry : architectures()) names.emplace_back(entry.name);
  return names;
}

Model load_architecture(const std::string& name, const LoadModelOptions& options) {
  auto graph = build_architecture(name, options);
  if (!graph) fail_usage("there is no built-in architecture '{}'", name);
  return {name, {}, std::make_shared<graph::Graph>(std::move(*graph)), metadata_of(*find_architecture(name))};
}

Metadata preprocessing_metadata() {
  return {{"image.resize", "256"},
          {"image.crop", "224"},
          {"image.mean", "0.485,0.456,0.406"},
          {"image.std", "0.229,0.224,0.225"}};
}

}  // namespace hone::importer
