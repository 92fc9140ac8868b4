// See import.hpp.
#include "import/onnx/import.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/file.hpp"
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

/// Refuses files that failed downloads leave under a model's name.
void refuse_other_files(std::span<const std::byte> bytes) {
  constexpr size_t kLooksAt = 512;
  std::string head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kLooksAt));
  if (head.starts_with("version https://git-lfs.github.com/spec/"))
    fail_bad_input("this is a Git LFS pointer, not the model: fetch that with 'git lfs pull'");
  head.erase(0, head.find_first_not_of(" \t\r\n\xef\xbb\xbf"));
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
  if (head.starts_with("<!doctype") || head.starts_with("<html") || head.starts_with("<?xml"))
    fail_bad_input("this is a web page, not a model: look at it to see what the download answered");
  if (head.starts_with("{\""))
    fail_bad_input("this is JSON text, not a model: look at it to see what the download answered");
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
