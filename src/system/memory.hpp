// The memory that all tensors of the process may take together, decided before each allocation: files are
// untrusted, and a few bytes of a model can ask for any amount.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hone::system {

/// Bytes of the machine, or of the control group that the process is in where that is less.
int64_t machine_memory();

/// Bytes: $HONE_MEMORY_LIMIT_MB (1e6 bytes each), else half of the memory of the machine or of the control
/// group that the process is in, whichever is smaller. Read once; usage error when the variable is no
/// positive number.
int64_t memory_limit();

/// 64-byte aligned and uninitialised. OutOfMemory: bad input when the tensors that live already leave too
/// little of the limit, environment error when the system has no more.
std::shared_ptr<std::byte> allocate_bytes(size_t size);

}  // namespace hone::system
