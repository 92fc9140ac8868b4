// Graphs out: any graph of ONNX operators becomes an ONNX model that other tools read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "import/model.hpp"

namespace hone::importer {

inline constexpr int kMinExportOpset = 13;
inline constexpr int kMaxExportOpset = 22;

/// The bytes of a model in this opset, 13 to 22 (usage error for others), with `metadata` as its
/// metadata_props. Bad input naming the node that has no form in it: an operator that is newer, one that a
/// pass made, or a use that the older form cannot express.
std::string export_onnx(const graph::Graph& graph, int opset, const Metadata& metadata = {});

/// The same graph with this first dimension of every input, inferred anew: a number, or the symbol "batch"
/// when absent. Bad input naming an input whose first dimension is another number.
graph::Graph with_batch(const graph::Graph& graph, std::optional<int64_t> batch);

}  // namespace hone::importer
