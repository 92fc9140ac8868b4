// See kineto_document.hpp. Intervals of the host and of the device are in kineto_rows.cpp.
#include "trace/format/kineto_document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "trace/format/api_calls.hpp"
#include "trace/format/kineto_header.hpp"

namespace hone::trace {
namespace {

/// Kineto's own step for the base of times (about three months): all files of one job have the same base, and
/// doubles represent the nanoseconds after it exactly.
constexpr Time kBaseStep = 7'889'238'000'000'000;

/// Members that the writer makes itself.
constexpr std::string_view kOwnMembers[] = {"schemaVersion",   "deviceProperties",    "distributedInfo",
                                            "displayTimeUnit", "baseTimeNanoseconds", "utc_epoch_ns",
                                            "traceEvents",     "traceName",           "source",
                                            kDoubtsMember,     kUnitsMember};

bool is_short_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(value) == text &&
         std::abs(value) < (int64_t{1} << 53);
}

/// Numbers of rows that the format cannot represent, by table.
std::array<std::pair<const char*, size_t>, 6> left_out(const Trace& trace) {
  return {{{"graph_nodes", trace.graph_nodes.size()},
           {"graph_edges", trace.graph_edges.size()},
           {"model_steps", trace.model_steps.size()},
           {"thread_syncs", trace.thread_syncs.size()},
           {"thread_usages", trace.thread_usages.size()},
           {"kernel_metrics", trace.kernel_metrics.size()}}};
}

int64_t epoch_of(const Trace& trace) {
  const auto found = trace.metadata.find("utc_epoch_ns");
  if (found == trace.metadata.end()) return 0;
  int64_t value = 0;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

}  // namespace

KinetoDocument::KinetoDocument(const Trace& trace, const HostLayout& layout, TextSink& sink,
                               Settings settings)
    : trace_(trace),
      layout_(layout),
      out_(sink),
      settings_(std::move(settings)),
      strings_(trace.strings),
      call_names_(trace.strings, plain_api_name) {
  const Span span = extent(trace);
  if (std::max(std::abs(span.start), std::abs(span.end)) >= kBaseStep)
    base_ = span.start / kBaseStep * kBaseStep;
  for (const DeviceEvent& event : trace.device_events) {
    if (event.stream < INT64_MAX) spare_stream_ = std::max(spare_stream_, event.stream + 1);
    if (event.correlation < INT64_MAX) next_correlation_ = std::max(next_correlation_, event.correlation + 1);
  }
  for (const auto& [correlation, index] : layout.launches) {
    if (correlation < INT64_MAX) next_correlation_ = std::max(next_correlation_, correlation + 1);
  }
  for (size_t i = 0; i < trace.event_records.size(); ++i) records_.emplace(trace.event_records[i].id, i);
  for (const Stream& stream : trace.streams) {
    if (stream.priority != 0) priorities_[{stream.context, stream.id}] = stream.priority;
  }
}

bool KinetoDocument::mine(int64_t correlation, int64_t context) const {
  const int64_t process = process_of(trace_, layout_, correlation, context);
  return process == settings_.process || (process == kNone && settings_.first);
}

/// The work of the profiler itself has no process.
bool KinetoDocument::mine(const Thread& thread) const {
  return thread.process == settings_.process || (thread.process < 0 && settings_.first);
}

void KinetoDocument::write() {
  write_header();
  write_names();
  for (size_t i = 0; i < trace_.host_events.size(); ++i) write_host(i);
  write_allocations();
  for (const DeviceEvent& event : trace_.device_events) {
    if (mine(event.correlation, event.context)) write_device(event);
  }
  for (const Synchronization& row : trace_.synchronizations) {
    if (mine(row.correlation, row.context)) write_synchronization(row);
  }
  for (const EventRecord& row : trace_.event_records) {
    if (mine(row.correlation, row.context)) write_event_record(row);
  }
  if (settings_.first) write_counters();
  write_end();
}

void KinetoDocument::write_header() {
  out_.add("{{\n  \"schemaVersion\": 1,\n");
  write_distributed_info();
  write_devices();
  write_metadata();
  out_.add("  \"displayTimeUnit\": \"ms\",\n");
  if (base_ != 0 || trace_.metadata.count("utc_epoch_ns") != 0)
    out_.add("  \"baseTimeNanoseconds\": {},\n", epoch_of(trace_) + base_);
  out_.add("  \"traceEvents\": [");
}

/// Readers look for the text `"rank": N`, with the space, from the first line on.
void KinetoDocument::write_distributed_info() {
  Json info = Json::object({{"rank", settings_.rank}});
  if (const auto found = trace_.metadata.find("distributedInfo"); found != trace_.metadata.end()) {
    const Json recorded = Json::parse(found->second, nullptr, false);
    if (recorded.is_object()) info.update(recorded);
  }
  out_.add("  \"distributedInfo\": {},\n", info.dump(2, ' ', false, Json::error_handler_t::replace));
}

void KinetoDocument::write_devices() {
  out_.add("  \"deviceProperties\": [");
  const char* separator = "\n";
  for (const DeviceProperties& device : trace_.devices) {
    out_.add(
        "{}    {{\"id\": {}, \"name\": {}, \"totalGlobalMem\": {}, \"computeMajor\": {}, \"computeMinor\": "
        "{},"
        "\n     \"maxThreadsPerMultiprocessor\": {}, \"regsPerMultiprocessor\": {}, \"warpSize\": {}, "
        "\"sharedMemPerMultiprocessor\": {}, \"numSms\": {}}}",
        separator, device.id, strings_[device.name], device.memory_bytes, device.compute_major,
        device.compute_minor, device.threads_per_multiprocessor, device.registers_per_multiprocessor,
        device.warp_size, device.shared_bytes_per_multiprocessor, device.multiprocessors);
    separator = ",\n";
  }
  out_.add("],\n");
}

void KinetoDocument::write_metadata() {
  for (const auto& [key, value] : trace_.metadata) {
    if (std::find(std::begin(kOwnMembers), std::end(kOwnMembers), key) != std::end(kOwnMembers)) continue;
    out_.add("  {}: {},\n", json_string(key), is_short_integer(value) ? value : json_string(value));
  }
}

void KinetoDocument::separate() {
  out_.add("{}", first_row_ ? "\n" : ",\n");
  first_row_ = false;
}

void KinetoDocument::write_name(const char* name, const char* argument, int64_t process, int64_t thread,
                                const std::string& value) {
  separate();
  out_.add(R"(  {{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "args": {{"{}": {}}}}})", name,
           process, thread, at(extent(trace_).start), argument, value);
}

void KinetoDocument::write_names() {
  const int64_t process = settings_.process;
  const auto program = trace_.metadata.find("program");
  write_name("process_name", "name", process, 0,
             json_string(program == trace_.metadata.end() ? "process" : program->second));
  write_name("process_labels", "labels", process, 0, "\"CPU\"");
  write_name("process_sort_index", "sort_index", process, 0, std::to_string(process));
  for (const Thread& thread : trace_.threads) {
    if (!mine(thread)) continue;
    const std::string name = thread.name == 0
                                 ? fmt::format("thread {}", thread.id)
                                 : fmt::format("thread {} ({})", thread.id, trace_.text(thread.name));
    write_name("thread_name", "name", thread.process, thread.id, json_string(name));
  }
  std::set<std::pair<int32_t, int64_t>> streams;
  for (const DeviceEvent& event : trace_.device_events) {
    if (mine(event.correlation, event.context)) streams.insert({event.device, stream_of(event.stream)});
  }
  int32_t device = -1;
  for (const auto& [id, stream] : streams) {
    if (id != device) {
      write_name("process_labels", "labels", id, 0, fmt::format("\"GPU {}\"", id));
      write_name("process_sort_index", "sort_index", id, 0, std::to_string(5'000'000 + id));
    }
    device = id;
    write_name("thread_name", "name", id, stream, fmt::format("\"stream {}\"", stream));
  }
}

void KinetoDocument::write_allocations() {
  std::map<int32_t, int64_t> totals;  // of devices for which the trace has no total from the allocator
  for (const Allocation& row : trace_.allocations) {
    totals[row.device] += row.bytes;
    const bool known = row.thread >= 0;
    const Thread thread = known ? trace_.threads[static_cast<size_t>(row.thread)]
                                : Thread{settings_.process, settings_.process, 0};
    if (known ? thread.process != settings_.process : !settings_.first) continue;
    separate();
    out_.add(
        R"(  {{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": {}, "tid": {}, "ts": {},)"
        R"( "args": {{"Device Type": {}, "Device Id": {}, "Addr": {}, "Bytes": {}, "Total Allocated": {}, )"
        R"("Total Reserved": {}}}}})",
        thread.process, thread.id, at(row.time), row.device < 0 ? 0 : 1, row.device,
        static_cast<uint64_t>(row.address), row.bytes,
        row.total_allocated == kNone ? totals[row.device] : row.total_allocated,
        std::max<int64_t>(row.total_reserved, 0));
  }
}

void KinetoDocument::write_counters() {
  for (const CounterSample& row : trace_.counter_samples) {
    if (!std::isfinite(row.value)) continue;
    separate();
    out_.add(
        R"(  {{"ph": "C", "cat": "hardware_counters", "name": {}, "pid": "GPU {} Counters", "tid": 0, "ts": {},)"
        R"( "args": {{"": {}}}}})",
        strings_[row.counter], row.device, at(row.time), row.value);
  }
}

void KinetoDocument::write_counter_units() {
  out_.add("  \"{}\": [", kUnitsMember);
  const char* separator = "\n";
  for (const auto& [counter, unit] : trace_.counter_units) {
    out_.add("{}    {{\"counter\": {}, \"unit\": {}}}", separator, strings_[counter], json_string(unit));
    separator = ",\n";
  }
  out_.add("],\n");
}

void KinetoDocument::write_end() {
  out_.add("\n  ],\n");
  if (!trace_.counter_units.empty()) write_counter_units();
  write_doubts();
  out_.add("  \"traceName\": {}\n}}\n", json_string(settings_.path.filename().string()));
  out_.flush();
}

void KinetoDocument::write_doubts() {
  out_.add("  \"{}\": [", kDoubtsMember);
  const char* separator = "\n";
  const auto add = [&](Severity severity, const std::string& about, const std::string& text, int64_t count) {
    out_.add("{}    {{\"severity\": {}, \"about\": {}, \"text\": {}, \"count\": {}}}", separator,
             static_cast<int>(severity), json_string(about), json_string(text), count);
    separator = ",\n";
  };
  for (const Doubt& doubt : trace_.doubts) add(doubt.severity, doubt.about, doubt.text, doubt.count);
  if (layout_.cut != 0)
    add(Severity::kDoubt, "host events",
        "ended after what encloses them and were cut there, as this format wants", layout_.cut);
  for (const auto& [table, count] : left_out(trace_)) {
    if (count != 0)
      add(Severity::kLoss, table, "rows were left out, as JSON of PyTorch's profiler has no place for them",
          static_cast<int64_t>(count));
  }
  out_.add("],\n");
}

}  // namespace hone::trace
