// Converts growing caches to caches of a fixed capacity, so that a decoder has one program for every length
// and appends to its caches in place.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/refusal.hpp"
#include "graph/graph.hpp"

namespace hone::transform {

/// An input, for example float32 [batch, heads, past, depth], and the output that appends the new tokens to
/// it, as indices in graph order.
struct CacheEnds {
  size_t input = 0;
  size_t output = 0;
};

/// The input that fix_caches() adds: int64 [1], the number of tokens in the caches.
inline constexpr std::string_view kCacheLength = "cache_length";

/// The open dimension of each cache becomes `capacity` in both its input and its output. The output differs
/// from the input only in the new tokens, which follow the first cache_length ones; later rows are ignored.
/// The other results of the graph do not change, as far as they do not depend on missing tokens: positions
/// are counted from cache_length on, and a softmax over all tokens gives missing ones the weight 0.
///
/// Refuses, and does not change the graph, if a cache is not a concatenation of its input and new tokens, or
/// if a value is computed from all tokens and it is unknown whether missing tokens affect it.
Refusal fix_caches(graph::Graph& graph, std::span<const CacheEnds> caches, int64_t capacity);

/// Changes the caches from float32 to this type in inputs and outputs, and adds casts. An engine that stores
/// values in this type then also stores its caches in it.
void store_caches_as(graph::Graph& graph, std::span<const CacheEnds> caches, tensor::DType dtype);

}  // namespace hone::transform
