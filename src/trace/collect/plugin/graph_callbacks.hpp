// Handlers of CUPTI's callbacks: CUDA graphs while they are built (nodes, copies of nodes, dependencies), and
// the calls that launch kernels or bound what is recorded.
#pragma once

#include <string>

namespace hone::trace::inject {

/// Becomes CUPTI's subscriber. Returns what is wrong, naming the tool in the way, or an empty text.
std::string subscribe();

}  // namespace hone::trace::inject
