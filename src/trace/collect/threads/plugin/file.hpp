// The file to which threads write: it is mapped into memory and enlarged as it fills, and each thread has its
// own chunk. No lock is held while another thread of the program could wait for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::threads {

/// Stores the folder of the files, and this thread as the one in which the program started. Returns false if
/// nothing is to be recorded.
bool prepare_file(uint64_t start);

/// Zeroed memory for ThreadCall records.
struct Chunk {
  raw::ThreadCall* next = nullptr;
  raw::ThreadCall* end = nullptr;
};

/// Returns an empty chunk if there is no room; the record is counted as lost then. The first call makes the
/// file.
Chunk take_chunk();

/// True if anything has been recorded.
bool has_file();

/// The system's number of this thread.
uint32_t this_thread();

}  // namespace hone::trace::threads
