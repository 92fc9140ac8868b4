// A model as the user brings it: a graph and its weights, from a file or a built-in architecture. (The
// namespace is `importer` because `import` is a contextual keyword of C++20.)
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "graph/graph.hpp"

namespace hone::importer {

/// The author's entries of key and value in the model (metadata_props of an ONNX file).
using Metadata = std::map<std::string, std::string>;

struct Model {
  std::string name;
  std::filesystem::path file;  ///< empty for built-in architectures
  /// Empty for a TorchScript archive, which only the torchscript backend loads.
  std::shared_ptr<const graph::Graph> graph;
  Metadata metadata;
};

}  // namespace hone::importer
