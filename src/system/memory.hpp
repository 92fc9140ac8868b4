// Limits the memory of all tensors of the process together, before each allocation: files are untrusted, and
// a few bytes of a model can request any amount.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hone::system {

/// Memory of the machine, or of the process's control group if that is less, in bytes.
int64_t machine_memory();

/// The limit in bytes: $HONE_MEMORY_LIMIT_MB (in units of 1e6 bytes), else half of the memory of the machine
/// or of the process's control group, whichever is smaller. Read once; usage error if the variable is not a
/// positive number.
int64_t memory_limit();

/// 64-byte aligned and uninitialized. Throws OutOfMemory: bad input if existing tensors leave too little of
/// the limit, environment error if the system has no more memory.
std::shared_ptr<std::byte> allocate_bytes(size_t size);

}  // namespace hone::system
