// Rotary position embedding in plain operators.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// Rotates the channels (last axis) of `x`. `cos` and `sin` have half the number of channels and broadcast
/// along the other axes. Channel i is paired with channel i + half the channels, or with its neighbour if
/// `interleaved` is true.
graph::ValueId rotate(Expansion& e, graph::ValueId x, graph::ValueId cos, graph::ValueId sin,
                      bool interleaved);
/// Rotates only the first `channels`.
graph::ValueId rotate_first(Expansion& e, graph::ValueId x, const Extent& channels, graph::ValueId cos,
                            graph::ValueId sin, bool interleaved);

}  // namespace hone::importer
