// What the names of CUDA's functions say of a call.
#pragma once

#include <string_view>

#include "trace/trace.hpp"

namespace hone::trace {

/// kDriverApi for cuLaunchKernel, kRuntimeApi for cudaLaunchKernel.
HostKind api_kind(std::string_view name);

/// Sets Transfer::asynchronous of every copy and set whose call's name says so: nothing else in a file does.
void mark_asynchronous(Trace& trace);

}  // namespace hone::trace
