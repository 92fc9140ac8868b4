// Per-channel scale and shift: y[n, c, ...] = scale[c] * x[n, c, ...] + shift[c]. Batch normalisation has
// this form at inference, and a convolution or matrix product can take it into its weights.
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

/// Where the channels of a node's result lie that its weights can scale: axis 1 of Conv,
/// ConvTranspose and Gemm, the last axis of a MatMul by a matrix.
struct Channels {
  int64_t rank = 0;
  int64_t axis = 0;
  int64_t count = 0;
};
/// Nullopt when the node is none of these or its shapes are not known well enough.
std::optional<Channels> weighted_channels(const Graph& graph, const Node& node);

/// A node that applies a constant per-channel scale and shift to its input `main`.
struct AffineOrReason {
  std::optional<Affine> affine;
  /// Empty when the node is nothing of the kind.
  Refusal reason;
};
AffineOrReason as_affine(const Graph& graph, const Node& node, ValueId main, const Channels& channels);

/// Scale and shift of a BatchNormalization, or why they are not constant.
AffineOrReason batch_norm_affine(const Graph& graph, const Node& node, int64_t channels);

/// The node with scale and shift in its weights and bias; kept as it is, with a reason, when they
/// are not constant. A MatMul that needs a bias becomes a Gemm when its operands are matrices.
struct FoldedOrReason {
  std::optional<Node> node;
  Refusal reason;
};
FoldedOrReason fold_affine(Editor& editor, const Node& node, const Channels& channels, const Affine& affine);

}  // namespace hone::transform
