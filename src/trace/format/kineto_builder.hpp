// Converts the events of a Kineto file, one after another, into the rows of a trace.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/format/kineto_event.hpp"
#include "trace/format/kineto_names.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

class KinetoBuilder {
 public:
  /// `memory`: the number of bytes that the trace may use; a small compressed file can hold any number of
  /// events.
  explicit KinetoBuilder(int64_t memory) : memory_(memory) {}

  void add(const KinetoEvent& event);
  /// Counts an entry of the list of events that was no JSON object.
  void add_unreadable() { ++unreadable_; }
  /// True if the list had entries, and none of them was an event.
  bool only_unreadable() const { return unreadable_ > 0 && added_ == 0; }
  /// True if no event was added.
  bool empty() const { return added_ == 0; }
  /// True if any event became a row of the trace.
  bool kept_something() const;
  /// Number of events that could not be read or have an unknown kind.
  int64_t left_out() const;
  /// True if the memory is used up; the current event is then counted and must not be added.
  bool full();
  /// The trace, not yet normalized, with all doubts about the events. Call once.
  Trace finish();

 private:
  struct Interval {
    Time start = 0;
    Time end = 0;
  };
  /// A range that has begun and not ended yet.
  struct Begun {
    StringId name = 0;
    Time start = 0;
  };
  void add_interval(const KinetoEvent& event);
  void add_begin(const KinetoEvent& event);
  void add_end(const KinetoEvent& event);
  const KinetoCategory& category_without_name(const KinetoEvent& event);
  void add_host(const KinetoEvent& event, HostKind kind, Interval time);
  void add_device(const KinetoEvent& event, DeviceKind kind, Interval time);
  void add_synchronization(const KinetoEvent& event, Interval time);
  void add_event_record(const KinetoEvent& event);
  void add_waited_record(const KinetoEvent& event);
  void add_instant(const KinetoEvent& event);
  void add_counter(const KinetoEvent& event);
  void add_metadata(const KinetoEvent& event);
  int32_t add_operator(const KinetoEvent& event);
  int32_t add_launch(const KinetoEvent& event);
  int32_t add_transfer(const KinetoEvent& event);
  void see_stream(int32_t device, int64_t context, int64_t stream, int64_t priority);
  StringId intern(std::string_view text);
  int32_t thread_of(const KinetoEvent& event);
  int64_t number_of(const KinetoPlace& place);
  EventRecord& record_of(int64_t id);
  void ignore(std::string_view category);
  void name_threads();
  void note_losses();

  Trace trace_;
  std::map<std::pair<int64_t, int64_t>, int32_t> threads_;
  std::pair<int64_t, int64_t> last_place_;
  int32_t last_thread_ = -1;
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names_;
  std::set<int64_t> device_processes_;
  std::set<int64_t> contexts_;
  std::set<std::pair<int64_t, int64_t>> streams_;
  std::unordered_map<int64_t, size_t> records_;
  /// The open ranges of each thread, the innermost last.
  std::unordered_map<int32_t, std::vector<Begun>> begun_;
  std::map<std::string, int64_t, std::less<>> ignored_;
  int64_t memory_;
  int64_t text_bytes_ = 0;
  int64_t added_ = 0;
  int64_t unreadable_ = 0;
  int64_t incomplete_ = 0;
  int64_t uncategorized_ = 0;
  int64_t beyond_ = 0;
};

}  // namespace hone::trace
