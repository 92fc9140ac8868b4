// One Kineto file: the rows of one process, as text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "trace/format/kineto_json.hpp"
#include "trace/format/kineto_layout.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

class KinetoDocument {
 public:
  struct Settings {
    int64_t process = 0;
    bool first = true;  ///< this file also takes the rows whose process is unknown
    int64_t rank = 0;   ///< used if the trace holds no rank
    bool whole_microseconds = false;
    std::filesystem::path path;
  };
  KinetoDocument(const Trace& trace, const HostLayout& layout, TextSink& sink, Settings settings);
  void write();

 private:
  struct Row;  // category, name, place and times of an interval
  bool mine(int64_t correlation, int64_t context) const;
  bool mine(const Thread& thread) const;
  Microseconds at(Time time) const { return {time - base_, settings_.whole_microseconds}; }
  void write_header();
  void write_devices();
  void write_distributed_info();
  void write_metadata();
  void write_names();
  void write_name(const char* name, const char* argument, int64_t process, int64_t thread,
                  const std::string& value);
  void write_host(size_t index);
  void write_call(size_t index);
  void write_operator(size_t index);
  void write_python(size_t index);
  void write_device(const DeviceEvent& event);
  void write_launch(const DeviceEvent& event);
  void write_transfer(const DeviceEvent& event);
  void write_arrow(const DeviceEvent& event, int64_t stream, size_t call_index);
  void write_synchronization(const Synchronization& row);
  void write_event_record(const EventRecord& row);
  void write_allocations();
  void write_counters();
  void write_counter_units();
  void write_doubts();
  void write_end();
  void begin_interval(const Row& row);
  void end_interval();
  void separate();
  int64_t stream_of(int64_t stream) const { return stream > 0 ? stream : spare_stream_; }

  const Trace& trace_;
  const HostLayout& layout_;
  JsonLines out_;
  Settings settings_;
  JsonStrings strings_;
  JsonStrings call_names_;    // without the suffixes that CUPTI adds: readers look for the plain names
  Time base_ = 0;             // the times of the file count from here
  int64_t spare_stream_ = 1;  // for events without a stream: readers need a number above 0
  int64_t next_correlation_ = 1;
  bool first_row_ = true;
  bool first_argument_ = true;
  std::unordered_set<int64_t> arrows_;                         // that have begun in this file
  std::map<std::pair<int64_t, int64_t>, int32_t> priorities_;  // of contexts' streams, other than 0
  std::map<StringId, int64_t> modules_;
  std::unordered_map<int64_t, size_t> records_;

  template <class... Args>
  void argument(const char* name, fmt::format_string<Args...> format, Args&&... args) {
    out_.add("{}\"{}\": ", first_argument_ ? "" : ", ", name);
    out_.add(format, std::forward<Args>(args)...);
    first_argument_ = false;
  }
};

}  // namespace hone::trace
