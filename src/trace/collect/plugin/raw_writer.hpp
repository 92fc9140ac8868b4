// Appends records to the file of this process. Safe from any thread; never throws, since its callers are C
// code that cannot handle exceptions.
#pragma once

#include <string>
#include <string_view>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::inject {

/// Records that one thread has gathered, to be appended together.
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

/// Makes the file `<folder>/<process>.honeraw`; returns false if that is impossible. Call once.
bool open_writer(const std::string& folder);
/// Appends immediately, so that a killed process loses only the records that CUPTI still held and the closed
/// ranges of the last batch.
void append(const Batch& batch);
/// The id of a text; a new text is written to the file.
uint32_t text_id(std::string_view text);
/// Call in a forked child, which must not write to the file of its parent. The child may open its own file.
void abandon_writer();
/// True in such a child. It may not take other locks that were made before the fork: a thread that does not
/// exist in the child may hold them.
bool is_abandoned();
/// Reports something that will be missing in the trace.
void report_loss(uint32_t severity, std::string_view about, std::string_view text, int64_t count);

}  // namespace hone::trace::inject
