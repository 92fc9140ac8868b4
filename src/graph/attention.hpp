// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017) as the body of a region.
#pragma once

#include <optional>
#include <vector>

#include "graph/strided_view.hpp"

namespace hone::graph {

/// The kind of regions that compute it.
inline constexpr std::string_view kAttention = "attention";

/// How a mask changes the scores of each row and key. Without a fill, the mask is added. With a fill, the
/// mask is a bool, and the fill replaces the scores for which the mask equals `where`.
struct AttentionMask {
  StridedView view;  ///< leading..., rows, keys
  std::optional<float> fill;
  bool where = false;
};

/// result = softmax(scale * (q k), masked) v, for each index of the leading dimensions; the softmax runs
/// along the keys. The views refer to inputs of the body.
struct Attention {
  tensor::Shape leading;
  int64_t rows = 0;
  int64_t keys = 0;
  /// Columns of q, which are the rows of k.
  int64_t depth = 0;
  /// Columns of v.
  int64_t width = 0;
  StridedView q;                     ///< leading..., rows, depth
  StridedView k;                     ///< leading..., depth, keys
  StridedView v;                     ///< leading..., keys, width
  std::vector<AttentionMask> masks;  ///< in the order in which they are applied
  double scale = 1;
  /// True if the result is zero for a row whose weights are NaN, for example because all its keys are masked.
  bool guarded = false;
  StridedView result;  ///< leading..., rows, width, of the plain result
};

/// Reads the attention that a body with types (typed_body()) computes. Returns nullopt if the body computes
/// no attention of known shape with views of its inputs as operands. Files may have any body in a region of
/// this kind.
std::optional<Attention> read_attention(const Graph& body);

}  // namespace hone::graph
