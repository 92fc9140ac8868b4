// The activation of one convolution of a region, in the form that kernels apply.
#pragma once

#include <cstddef>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Reads the post-ops of a convolution from index `from` on: none, a Relu or a Clip. Returns an empty refusal
/// if `out` is filled in; otherwise the reason why a kernel that supports only bounds cannot run the node.
Refusal read_activation_bounds(const graph::Node& node, size_t from, StreamEpilogue& out);

}  // namespace hone::device::cuda
