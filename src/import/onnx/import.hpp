// Imports ONNX models: converts a file or its bytes to a graph with the semantics of opset 22.
//
// Files are untrusted. Counts, nesting and sizes have limits (limits.hpp) that are checked before memory
// is allocated; external data must be inside the model's folder; every attribute is checked against the
// operator table before shape inference uses it. Every error is one bad-input Error that names file, node
// and field.
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
/// Initializers that are also graph inputs are constants, not inputs, except for the names in `given`. The
/// file's metadata_props are stored in `metadata` unless it is null.
graph::Graph import_onnx(const std::filesystem::path& file, Metadata* metadata = nullptr,
                         std::span<const std::string> given = {});

/// Imports from memory. `folder` has the external data; if it is empty, external data is refused.
graph::Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder = {},
                         Metadata* metadata = nullptr, std::span<const std::string> given = {});

/// Loads an ONNX file as a model, for the list of importers.
Model load_onnx(const std::string& file, const LoadModelOptions& options);

}  // namespace hone::importer
