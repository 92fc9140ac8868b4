// ONNX models in: a file or its bytes becomes a graph with the semantics of opset 22.
//
// Files are untrusted. Counts, nesting and sizes have limits (limits.hpp) that are checked before memory
// is taken; external data stays inside the model's folder; every attribute is checked against the operator
// table before shape inference sees it. Whatever is wrong is one bad-input Error that names file, node,
// field.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "graph/graph.hpp"
#include "import/load.hpp"

namespace hone::importer {

/// The verified graph of an ONNX file (default domain, opset up to 26, and operators of com.microsoft and
/// ai.onnx.ml), types inferred.
/// Initializers that are also graph inputs are constants, not inputs, but for those `given` names. The file's
/// metadata_props go to `metadata` unless it is null.
graph::Graph import_onnx(const std::filesystem::path& file, Metadata* metadata = nullptr,
                         std::span<const std::string> given = {});

/// The same from memory. `folder` holds external data; with an empty one external data is refused.
graph::Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder = {},
                         Metadata* metadata = nullptr, std::span<const std::string> given = {});

/// The model of an ONNX file, as an importer loads it.
Model load_onnx(const std::string& file, const LoadModelOptions& options);

}  // namespace hone::importer
