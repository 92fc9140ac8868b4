// Exports any graph of ONNX operators as an ONNX model that other tools can read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "graph/graph.hpp"
#include "import/model.hpp"

namespace hone::importer {

inline constexpr int kMinExportOpset = 13;
inline constexpr int kMaxExportOpset = 22;

/// Returns 17, which most tools read, or the first later opset that can express every node of the graph; the
/// last opset if none can.
int usual_opset(const graph::Graph& graph);

/// Bytes of the written model file, and of the weights file next to it; 0 if there is none.
struct ExportedBytes {
  uint64_t model = 0;
  uint64_t external = 0;
};

/// The file for the weights that are not in the model's own file: "net.onnx.data" next to "net.onnx".
std::filesystem::path external_path(const std::filesystem::path& file);

/// Writes a model in this opset, 13 to 22 (usage error for others), with `metadata` as its metadata_props.
/// If its constants need more than `limit` bytes, by default the limit of protobuf, they are written to
/// external_path(). Throws bad input that names a node without a form in the opset: a newer operator, an
/// operator made by a pass, or a use that the older form cannot express.
ExportedBytes export_onnx(const std::filesystem::path& file, const graph::Graph& graph, int opset,
                          const Metadata& metadata = {}, std::optional<uint64_t> limit = std::nullopt);

/// The same graph with this first dimension of every input, and with new types: a number, or the symbol
/// "batch" if absent. A batch that is fixed at another number is opened if possible (open_batch.hpp);
/// otherwise it is bad input.
graph::Graph with_batch(const graph::Graph& given, std::optional<int64_t> batch);

}  // namespace hone::importer
