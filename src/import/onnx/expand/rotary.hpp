// Rotary position embedding in plain operators.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// Turns the channels (last axis) of `x`. `cos` and `sin` have half the number of channels and broadcast
/// otherwise. Channel i makes a pair with the one half the channels further, or with its neighbour when
/// `interleaved`.
graph::ValueId rotate(Expansion& e, graph::ValueId x, graph::ValueId cos, graph::ValueId sin,
                      bool interleaved);
/// Rotates only the first `channels`.
graph::ValueId rotate_first(Expansion& e, graph::ValueId x, const Extent& channels, graph::ValueId cos,
                            graph::ValueId sin, bool interleaved);

}  // namespace hone::importer
