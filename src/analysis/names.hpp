// Names as people want to read and group them: kernels without their template arguments, API calls without
// the versions that CUPTI appends, copies by direction.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::analysis {

/// The function's own name: `gemm` of `void lib::gemm<float, 4>(float*, int)`. Names that are no C++
/// signatures (nvjet_hsh_128x64) stay as they are.
std::string base_name(std::string_view demangled);

/// The signature without return type and parameters: `lib::gemm<float, 4>`.
std::string without_parameters(std::string_view demangled);

/// The name without namespaces, in which instances of a kernel still differ: `gemm<float, Tile<4>>`.
std::string brief_name(std::string_view demangled);

/// Without the suffixes of CUPTI, of the per-thread default stream and of the driver's versions:
/// cudaMemcpyAsync of cudaMemcpyAsync_ptsz_v7000, cuMemFree of cuMemFree_v2.
std::string_view api_name(std::string_view recorded);

/// "HtoD", "DtoH", "DtoD", "HtoH", "PtoP" as nvprof and Nsight Systems say; "unknown".
std::string_view direction_name(trace::CopyDirection direction);
/// "pageable", "pinned", "device", "array", "managed", "unknown".
std::string_view memory_name(trace::MemoryKind kind);

/// "note", "doubt", "loss".
std::string_view severity_name(trace::Severity severity);

/// ASCII letters only.
std::string lower_case(std::string_view text);

/// True if the kernel moves data between devices: NCCL's and its relatives', by the operation recorded with
/// it or by its name.
bool is_communication_kernel(std::string_view name);
/// True if a range or operator is a collective that runs on the host: gloo:all_reduce.
bool is_host_communication(std::string_view name);
/// True if a range is the wait of an iteration for its data: enumerate(DataLoader)#0.__next__
bool is_data_loading(std::string_view name);

}  // namespace hone::analysis
