// Caches that grow become caches of a fixed capacity, so that a decoder has one program for every length and
// appends to its caches where they are.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/refusal.hpp"
#include "graph/graph.hpp"

namespace hone::transform {

/// An input, float32 [batch, heads, past, depth] or the like, and the output that appends the new tokens to
/// it; by their places in the graph.
struct CacheEnds {
  size_t input = 0;
  size_t output = 0;
};

/// The input that fix_caches() adds: int64 [1], how many tokens the caches hold.
inline constexpr std::string_view kCacheLength = "cache_length";

/// Each cache's open dimension becomes `capacity`, in the input and in the output, which differ in the new
/// tokens only: these come after the first cache_length ones, and anything after them counts for nothing.
/// Everything else of the graph computes what it did, as far as it does not depend on tokens that the caches
/// do not hold: positions are counted from cache_length on, and a softmax over all tokens gives those that
/// are not there nothing.
///
/// Refuses, and leaves the graph as it is, where a cache is no concatenation of its input and what is new, or
/// where something is computed from all tokens of which it is not known that the missing ones do not matter.
Refusal fix_caches(graph::Graph& graph, std::span<const CacheEnds> caches, int64_t capacity);

/// Makes the caches, which are float32, inputs and outputs of that type: what the graph reads and makes of
/// them is cast. An engine that keeps values in this type then keeps its caches so, too.
void store_caches_as(graph::Graph& graph, std::span<const CacheEnds> caches, tensor::DType dtype);

}  // namespace hone::transform
