// Appends records to the file of this process. Safe from any thread; never throws, since it is called by code
// that knows no exceptions.
#pragma once

#include <string>
#include <string_view>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::inject {

/// Records gathered by one thread, to be appended together.
class Batch {
 public:
  template <class Record>
  void add(const Record& record) {
    bytes_.append(reinterpret_cast<const char*>(&record), sizeof record);
  }
  void add(std::string_view text) { bytes_.append(text); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Makes the file `<folder>/<process>.honeraw`; false when that is impossible. Call once.
bool open_writer(const std::string& folder);
/// Appends now, so that a killed process loses only what CUPTI still held and its last closed ranges.
void append(const Batch& batch);
/// The id of a text, written to the file when it is new.
uint32_t text_id(std::string_view text);
/// In a forked child, which must not write to its parent's file. It may open one of its own.
void abandon_writer();
/// True if this is such a child. It may not take other locks that were made before the fork: a thread that it
/// does not have may hold them.
bool is_abandoned();
/// Appends what will not be in the trace.
void report_loss(uint32_t severity, std::string_view about, std::string_view text, int64_t count);

}  // namespace hone::trace::inject
