// Graphs out: any graph of ONNX operators becomes an ONNX model that other tools read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "graph/graph.hpp"
#include "import/model.hpp"

namespace hone::importer {

inline constexpr int kMinExportOpset = 13;
inline constexpr int kMaxExportOpset = 22;

/// 17, which most tools read, or the first one after it that can express every node of the graph; the last
/// one where none can.
int usual_opset(const graph::Graph& graph);

/// Bytes of the written model file, and of the weights file next to it; 0 if there is none.
struct ExportedBytes {
  uint64_t model = 0;
  uint64_t external = 0;
};

/// The file of weights that a model's file of this name does not hold: "net.onnx.data" next to it.
std::filesystem::path external_path(const std::filesystem::path& file);

/// Writes a model in this opset, 13 to 22 (usage error for others), with `metadata` as its metadata_props.
/// Where its constants need more than `limit` bytes, by default what protobuf can write, they go to
/// external_path(). Bad input naming the node that has no form in the opset: an operator that is newer, one
/// that a pass made, or a use that the older form cannot express.
ExportedBytes export_onnx(const std::filesystem::path& file, const graph::Graph& graph, int opset,
                          const Metadata& metadata = {}, std::optional<uint64_t> limit = std::nullopt);

/// The same graph with this first dimension of every input, inferred anew: a number, or the symbol "batch"
/// when absent. One that is fixed at another number is opened where that can be (open_batch.hpp), else it is
/// bad input.
graph::Graph with_batch(const graph::Graph& given, std::optional<int64_t> batch);

}  // namespace hone::importer
