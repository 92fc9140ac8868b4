// Derives facts about a call from the name of CUDA's function.
#pragma once

#include <string_view>

#include "trace/trace.hpp"

namespace hone::trace {

/// `cudaMemcpyAsync` of "cudaMemcpyAsync_ptsz_v7000": neither the version in which CUPTI met the function nor
/// the variant for default streams of threads is a part of its name. The _v2 or _v3 of the driver's functions
/// is.
std::string_view plain_api_name(std::string_view recorded);

/// kDriverApi for cuLaunchKernel, kRuntimeApi for cudaLaunchKernel.
HostKind api_kind(std::string_view name);

/// Sets Transfer::asynchronous of every copy and set whose call's name says so: nothing else in a file does.
void mark_asynchronous(Trace& trace);

}  // namespace hone::trace
