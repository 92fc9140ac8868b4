// See import.hpp.
#include "import/onnx/import.hpp"

#include "base/file.hpp"
#include "graph/verify.hpp"
#include "import/onnx/converter.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

graph::Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                         Metadata* metadata) {
  onnx::ModelProto model = parse_model(bytes);
  if (metadata != nullptr) {
    for (const auto& entry : model.metadata_props()) (*metadata)[entry.key()] = entry.value();
  }
  graph::Graph graph = Converter(model, folder).convert();
  graph::verify(graph, "import");
  return graph;
}

graph::Graph import_onnx(const std::filesystem::path& file, Metadata* metadata) {
  const base::MappedFile content(file);
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  try {
    return import_onnx(content.bytes(), folder, metadata);
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

Model load_onnx(const std::string& file, const LoadModelOptions& /*options*/) {
  const std::filesystem::path path(file);
  Model model{path.stem().string(), path, nullptr, {}};
  model.graph = std::make_shared<graph::Graph>(import_onnx(path, &model.metadata));
  return model;
}

}  // namespace hone::importer
