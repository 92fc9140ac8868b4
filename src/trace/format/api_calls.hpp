// Derives properties of an API call from the name of its CUDA function.
#pragma once

#include <string_view>

#include "trace/trace.hpp"

namespace hone::trace {

/// `cudaMemcpyAsync` for "cudaMemcpyAsync_ptsz_v7000": the version in which CUPTI first knew the function and
/// the variant for per-thread default streams are no parts of its name. The _v2 or _v3 of driver functions
/// is.
std::string_view plain_api_name(std::string_view recorded);

/// kDriverApi for cuLaunchKernel, kRuntimeApi for cudaLaunchKernel.
HostKind api_kind(std::string_view name);

/// Sets Transfer::asynchronous of every copy and memset whose call is asynchronous by its name: files hold no
/// other sign of it.
void mark_asynchronous(Trace& trace);

}  // namespace hone::trace
