// Shortens names for reading and grouping: kernels without template arguments, API calls without the version
// suffixes that CUPTI appends, copies by direction.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::analysis {

/// The function's own name: `void lib::gemm<float, 4>(float*, int)` gives `gemm`. Names that are not C++
/// signatures (nvjet_hsh_128x64) stay unchanged.
std::string base_name(std::string_view demangled);

/// The signature without return type and parameters: `lib::gemm<float, 4>`.
std::string without_parameters(std::string_view demangled);

/// The name without namespaces, which still distinguishes instances of a template: `gemm<float, Tile<4>>`.
std::string brief_name(std::string_view demangled);

/// Removes the suffixes of CUPTI, of the per-thread default stream and of the driver's versions:
/// cudaMemcpyAsync_ptsz_v7000 gives cudaMemcpyAsync, cuMemFree_v2 gives cuMemFree.
std::string_view api_name(std::string_view recorded);

/// "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", as in nvprof and Nsight Systems; else "unknown".
std::string_view direction_name(trace::CopyDirection direction);
/// "pageable", "pinned", "device", "array", "managed", "unknown".
std::string_view memory_name(trace::MemoryKind kind);

/// "note", "doubt", "loss".
std::string_view severity_name(trace::Severity severity);

/// Converts only ASCII letters.
std::string lower_case(std::string_view text);

/// True if the kernel moves data between devices (NCCL and similar libraries), by the name of the operation
/// recorded with it or by its own name.
bool is_communication_kernel(std::string_view name);
/// True if a range or operator is a collective operation that runs on the host: gloo:all_reduce.
bool is_host_communication(std::string_view name);
/// True if a range is the wait of an iteration for its data: enumerate(DataLoader)#0.__next__
bool is_data_loading(std::string_view name);

}  // namespace hone::analysis
