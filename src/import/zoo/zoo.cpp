// See zoo.hpp.
#include "import/zoo/zoo.hpp"

#include "graph/verify.hpp"
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

std::unique_ptr<WeightSource> weight_source(const LoadModelOptions& options) {
  if (options.weights.empty()) return seeded_weights(options.seed);
  return file_weights(options.weights);
}

}  // namespace

std::optional<graph::Graph> build_architecture(std::string_view name, const LoadModelOptions& options) {
  for (const ArchitectureEntry& entry : architectures()) {
    if (entry.name != name) continue;
    const auto weights = weight_source(options);
    GraphBuilder net(std::string(name), entry.seeding, *weights);
    graph::Graph graph = net.finish(entry.build(net));
    graph::verify(graph, "building the architecture");
    return graph;
  }
  return std::nullopt;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const ArchitectureEntry& entry : architectures()) names.emplace_back(entry.name);
  return names;
}

Model load_architecture(const std::string& name, const LoadModelOptions& options) {
  auto graph = build_architecture(name, options);
  if (!graph) fail_usage("there is no built-in architecture '{}'", name);
  return {name, {}, std::make_shared<graph::Graph>(std::move(*graph)), preprocessing_metadata()};
}

Metadata preprocessing_metadata() {
  return {{"image.resize", "256"},
          {"image.crop", "224"},
          {"image.mean", "0.485,0.456,0.406"},
          {"image.std", "0.229,0.224,0.225"}};
}

}  // namespace hone::importer
