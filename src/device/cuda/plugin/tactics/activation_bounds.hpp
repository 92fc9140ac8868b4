// The activation of one of several convolutions of a node, as kernels finish it.
#pragma once

#include <string>
#include <string_view>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Reads the post-ops whose attributes begin with `prefix`: none, a Relu or a Clip. Empty when `out` is
/// filled in; else why a kernel that takes bounds alone cannot run the node.
Refusal read_activation_bounds(const graph::Node& node, std::string_view prefix, StreamEpilogue& out);

}  // namespace hone::device::cuda
