// Handles the differences between libtorch 1.13 and the newest version.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Optional.h>
#include <torch/version.h>

#include <optional>

namespace hone::backend::aten {

#if TORCH_VERSION_MAJOR < 2
template <class T>
using Optional = c10::optional<T>;
#else
template <class T>
using Optional = std::optional<T>;
#endif

/// The type of the totals in an allocator's reports: int64_t, in later versions size_t.
template <class T>
T total_type(void (c10::MemoryReportingInfoBase::*)(void*, int64_t, T, T, c10::Device));
using AllocatorTotal = decltype(total_type(&c10::MemoryReportingInfoBase::reportMemoryUsage));

}  // namespace hone::backend::aten
