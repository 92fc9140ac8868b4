// See import.hpp.
#include "import/onnx/import.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/file_kind.hpp"
#include "graph/verify.hpp"
#include "import/onnx/converter.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

graph::Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                         Metadata* metadata, std::span<const std::string> given) {
  onnx::ModelProto model = parse_model(bytes);
  if (metadata != nullptr) {
    for (const auto& entry : model.metadata_props()) (*metadata)[entry.key()] = entry.value();
  }
  graph::Graph graph = Converter(model, folder, given).convert();
  graph::verify(graph, "import");
  return graph;
}

namespace {

/// Refuses text files under a model's name, such as failed downloads leave.
void refuse_other_files(std::span<const std::byte> bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!base::seeming_kind(content).empty())
    fail_bad_input("{}", base::other_kind_text(content, "a model",
                                               "give the .onnx file that an exporter wrote, or the name of a "
                                               "built-in architecture, such as resnet50"));
}

}  // namespace

graph::Graph import_onnx(const std::filesystem::path& file, Metadata* metadata,
                         std::span<const std::string> given) {
  const base::MappedFile content(file);
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  try {
    refuse_other_files(content.bytes());
    return import_onnx(content.bytes(), folder, metadata, given);
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

Model load_onnx(const std::string& file, const LoadModelOptions& options) {
  const std::filesystem::path path(file);
  Model model{path.stem().string(), path, nullptr, {}};
  model.graph = std::make_shared<graph::Graph>(import_onnx(path, &model.metadata, options.given));
  return model;
}

}  // namespace hone::importer
