// Handlers of CUPTI's callbacks: construction of CUDA graphs (nodes, copies of nodes, dependencies), and the
// calls that launch kernels or limit the recording.
#pragma once

#include <string>

namespace hone::trace::inject {

/// Registers as CUPTI's subscriber. Returns a description of the error that names the tool in the way, or an
/// empty text.
std::string subscribe();

}  // namespace hone::trace::inject
