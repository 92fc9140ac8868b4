// The file that threads write to: mapped into memory, made larger as it fills, each thread with a chunk of
// its own. No lock is ever held while another thread of the program could wait for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::threads {

/// Remembers where files go, and this thread as the one in which the program began. False when nothing shall
/// be recorded.
bool prepare_file(uint64_t start);

/// Room for ThreadCall records, zeroed.
struct Chunk {
  raw::ThreadCall* next = nullptr;
  raw::ThreadCall* end = nullptr;
};

/// An empty chunk when there is no room; then the record is counted as lost. The first makes the file.
Chunk take_chunk();

/// True if anything was recorded yet.
bool has_file();

/// The system's number of this thread.
uint32_t this_thread();

}  // namespace hone::trace::threads
