// Per-channel scale and shift: y[n, c, ...] = scale[c] * x[n, c, ...] + shift[c]. At inference, batch
// normalization has this form, and a convolution or matrix product can include it in its weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "transform/editor.hpp"

namespace hone::transform {

struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;

  bool scales() const;
};

/// The axis of a node's result whose channels can be scaled by its weights: axis 1 of Conv, ConvTranspose and
/// Gemm, the last axis of a MatMul with a matrix.
struct Channels {
  int64_t rank = 0;
  int64_t axis = 0;
  int64_t count = 0;
};
/// Nullopt if the node is none of these, or if its shapes are not sufficiently known.
std::optional<Channels> weighted_channels(const Graph& graph, const Node& node);

/// A node that applies a constant per-channel scale and shift to its input `main`.
struct AffineOrReason {
  std::optional<Affine> affine;
  /// Empty if the node has another form.
  Refusal reason;
};
AffineOrReason as_affine(const Graph& graph, const Node& node, ValueId main, const Channels& channels);

/// Scale and shift of a BatchNormalization, or the reason why they are not constant.
AffineOrReason batch_norm_affine(const Graph& graph, const Node& node, int64_t channels);

/// The node with scale and shift included in its weights and bias, or a reason if that is impossible because
/// they are not constant. A MatMul that needs a bias becomes a Gemm if its operands are matrices.
struct FoldedOrReason {
  std::optional<Node> node;
  Refusal reason;
};
FoldedOrReason fold_affine(Editor& editor, const Node& node, const Channels& channels, const Affine& affine);

}  // namespace hone::transform
