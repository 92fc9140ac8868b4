// Limits of a model file; a file beyond one is refused before memory is taken for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::importer {

inline constexpr int kMinOpset = 7;
inline constexpr int kMaxOpset = 26;
/// Protobuf's own bound on one message; larger models keep their weights in external data.
inline constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 31) - 1;
/// Messages (nodes, attributes, tensors, types, …) in the file; each costs about 100 bytes once parsed.
inline constexpr size_t kMaxMessages = 4'000'000;
/// Nodes after functions have been inlined, in all graphs together.
inline constexpr size_t kMaxNodes = 250'000;
/// Bounds the elements of all sequences of tensors together, each of which is a list once the file is read.
inline constexpr size_t kMaxSequenceElements = 4'000'000;
inline constexpr size_t kMaxFunctions = 10'000;
inline constexpr int kMaxFunctionDepth = 32;
/// Graphs inside graphs (If, Loop, Scan). Inference runs a body several times, so its time grows with the
/// power.
inline constexpr int kMaxGraphDepth = 8;
/// Protobuf messages inside messages; a graph inside a graph takes three.
inline constexpr int kMaxMessageDepth = 100;
inline constexpr int kMaxRank = 64;
inline constexpr size_t kMaxNameBytes = 64 * 1024;
/// A sparse tensor is stored dense, so a few bytes can ask for any amount: one may take this many bytes, this
/// many times the bytes of its values and indices, and a little for nothing.
inline constexpr int64_t kMaxSparseBytes = int64_t{1} << 28;
inline constexpr int64_t kMaxSparseGrowth = 1024;
inline constexpr int64_t kFreeSparseBytes = 64 * 1024;

}  // namespace hone::importer
