// The activation of one of several convolutions of a region, as kernels finish it.
#pragma once

#include <cstddef>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Reads the post-ops of a convolution from the one numbered `from` on: none, a Relu or a Clip. Empty when
/// `out` is filled in; else why a kernel that takes only bounds cannot run the node.
Refusal read_activation_bounds(const graph::Node& node, size_t from, StreamEpilogue& out);

}  // namespace hone::device::cuda
