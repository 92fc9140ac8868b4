// Converts graphs to JSON, with tensors in separate numbered blobs; used in the header of an engine file.
#pragma once

#include <functional>
#include <memory>

#include "base/json.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Stores bytes and returns the number of the blob.
using WriteBlob = std::function<int64_t(const std::byte* data, int64_t size)>;
/// Returns the bytes of a blob; bad input if there is no such blob or its size differs.
using ReadBlob =
    std::function<std::pair<const std::byte*, std::shared_ptr<const void>>(int64_t blob, int64_t size)>;
/// True if the data of a constant are needed, not only its type.
using KeepConstant = std::function<bool(graph::ValueId)>;

Json graph_to_json(const graph::Graph& graph, const WriteBlob& write, const KeepConstant& keep);

/// Bad input that names the field if the JSON is not a valid graph. Nodes are completed and types inferred
/// again, so the result satisfies the invariants of an imported graph.
graph::Graph graph_from_json(const Json& json, const ReadBlob& read);

}  // namespace hone::engine
