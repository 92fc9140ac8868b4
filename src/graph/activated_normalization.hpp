// Group or instance normalization with the activations after it, as a single node or as the body of a region.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "graph/post_op.hpp"

namespace hone::graph {

/// The kind of regions that compute a normalization and the activations after it.
inline constexpr std::string_view kActivatedNormalization = "activated_normalization";

struct Activation {
  PostOp op = PostOp::kRelu;
  float alpha = 0;
  float beta = 0;
};

struct ActivatedNormalization {
  Node norm;  ///< only its attributes are used
  /// Indices of x, the scale and the bias among the inputs of the step.
  std::array<size_t, 3> inputs = {0, 1, 2};
  std::vector<Activation> activations;

  /// Number of groups for a tensor with `channels` channels; instance normalization has one for each channel.
  int64_t groups(int64_t channels) const {
    return norm.op == "GroupNormalization" ? norm.attributes.get_int("num_groups") : channels;
  }
};

/// Reads the computation of a GroupNormalization, an InstanceNormalization or a region of this kind; nullopt
/// for a region with another body. Files may have any body in a region of this kind.
std::optional<ActivatedNormalization> read_activated_normalization(const Node& node);

}  // namespace hone::graph
