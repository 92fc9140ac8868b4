// Limits of a model file; a file that exceeds one is refused before memory is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::importer {

inline constexpr int kMinOpset = 7;
inline constexpr int kMaxOpset = 26;
/// Protobuf's own limit on one message; larger models keep their weights in external data.
inline constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 31) - 1;
/// Messages (nodes, attributes, tensors, types, …) in the file; each costs about 100 bytes once parsed.
inline constexpr size_t kMaxMessages = 4'000'000;
/// Nodes in all graphs together, after functions have been inlined.
inline constexpr size_t kMaxNodes = 250'000;
/// Elements of all sequences of tensors together; each sequence becomes a list while the file is read.
inline constexpr size_t kMaxSequenceElements = 4'000'000;
inline constexpr size_t kMaxFunctions = 10'000;
inline constexpr int kMaxFunctionDepth = 32;
/// Levels of nested graphs (If, Loop, Scan). Inference runs a body several times, so its time is exponential
/// in the depth.
inline constexpr int kMaxGraphDepth = 8;
/// Levels of nested protobuf messages; each nested graph takes three.
inline constexpr int kMaxMessageDepth = 100;
inline constexpr int kMaxRank = 64;
inline constexpr size_t kMaxNameBytes = 64 * 1024;
/// Limits a sparse tensor, which is stored dense, so that a few bytes could otherwise request any amount of
/// memory: a number of bytes, a factor on the bytes of its values and indices, and a size that is always
/// allowed.
inline constexpr int64_t kMaxSparseBytes = int64_t{1} << 28;
inline constexpr int64_t kMaxSparseGrowth = 1024;
inline constexpr int64_t kFreeSparseBytes = 64 * 1024;

}  // namespace hone::importer
