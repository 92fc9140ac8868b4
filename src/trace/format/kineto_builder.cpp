// See kineto_builder.hpp.
#include "trace/format/kineto_builder.hpp"

#include <utility>

#include "trace/format/api_calls.hpp"
#include "trace/format/kineto_names.hpp"

namespace hone::trace {
namespace {

/// Upper limit of the memory for one event while the trace is built: its rows, vectors that double in size,
/// and room for sorting.
constexpr int64_t kEventBytes = 512;
/// The memory of a name in addition to its text.
constexpr int64_t kTextBytes = 128;
constexpr size_t kMostThreadNames = 1'000'000;
constexpr size_t kMostIgnored = 32;
/// Streams' numbers are shifted by this in the `tid` of rows that wait for a stream (since 2026).
constexpr int64_t kSyncRow = 1'000'000;
/// CUPTI_SYNCHRONIZATION_INVALID_VALUE, as old writers printed it.
constexpr int64_t kInvalid = 0xffffffff;
/// The process names of torch.autograd.profiler in builds of PyTorch without Kineto, such as Debian's.
constexpr std::string_view kLegacyHost = "CPU functions";
constexpr std::string_view kLegacyDevice = "CUDA functions";
/// The process names of JAX begin with this text, as in "/device:GPU:0".
constexpr std::string_view kDeviceProcess = "/device:";

int32_t narrow(int64_t value, int32_t otherwise) {
  return std::in_range<int32_t>(value) ? static_cast<int32_t>(value) : otherwise;
}

int64_t valid(int64_t id) { return id < 0 || id == kInvalid ? kNone : id; }

}  // namespace

bool KinetoBuilder::kept_something() const {
  return !trace_.host_events.empty() || !trace_.device_events.empty() || !trace_.synchronizations.empty() ||
         !trace_.event_records.empty() || !trace_.allocations.empty() || !trace_.counter_samples.empty();
}

int64_t KinetoBuilder::left_out() const {
  int64_t count = unreadable_ + incomplete_;
  for (const auto& [thread, open] : begun_) count += static_cast<int64_t>(open.size());
  for (const auto& [category, number] : ignored_) count += number;
  return count;
}

bool KinetoBuilder::full() {
  if (added_ * kEventBytes + text_bytes_ < memory_) return false;
  ++beyond_;
  return true;
}

StringId KinetoBuilder::intern(std::string_view text) {
  const size_t known = trace_.strings.size();
  const StringId id = trace_.strings.intern(text);
  if (trace_.strings.size() != known) text_bytes_ += static_cast<int64_t>(text.size()) + kTextBytes;
  return id;
}

void KinetoBuilder::add(const KinetoEvent& event) {
  if (event.is_arrow()) return;
  ++added_;
  if (event.phase == "X") return add_interval(event);
  if (event.phase == "B") return add_begin(event);
  if (event.phase == "E") return add_end(event);
  if (event.phase == "i" || event.phase == "I") return add_instant(event);
  if (event.phase == "M") return add_metadata(event);
  if (event.phase == "C") return add_counter(event);
  ignore(event.category.empty() ? "events of other phases" : event.category);
}

void KinetoBuilder::add_interval(const KinetoEvent& event) {
  const KinetoCategory* category =
      event.category.empty() ? &category_without_name(event) : find_category(event.category);
  if (category != nullptr && category->use == KinetoUse::kSkip) return;
  if (!event.start || !event.duration) {
    ++incomplete_;
    return;
  }
  if (category == nullptr) return ignore(event.category);
  const Interval time{*event.start, *event.start + *event.duration};
  switch (category->use) {
    case KinetoUse::kHost: return add_host(event, category->host, time);
    case KinetoUse::kDevice: return add_device(event, category->device, time);
    case KinetoUse::kSynchronization: return add_synchronization(event, time);
    case KinetoUse::kEventRecord: return add_event_record(event);
    case KinetoUse::kSkip: return;
  }
}

/// PyTorch does not write begin and end events; other programs that write Chrome's format do.
void KinetoBuilder::add_begin(const KinetoEvent& event) {
  if (!event.start) {
    ++incomplete_;
    return;
  }
  begun_[thread_of(event)].push_back({intern(event.name), *event.start});
}

void KinetoBuilder::add_end(const KinetoEvent& event) {
  const int32_t thread = thread_of(event);
  std::vector<Begun>& open = begun_[thread];
  if (!event.start || open.empty()) {
    ++incomplete_;
    return;
  }
  HostEvent row;
  row.start = open.back().start;
  row.end = *event.start;
  row.kind = HostKind::kRange;
  row.name = open.back().name;
  row.thread = thread;
  open.pop_back();
  trace_.host_events.push_back(row);
}

/// PyTorch without Kineto distinguishes device and host by the process; JAX by the name of the process.
const KinetoCategory& KinetoBuilder::category_without_name(const KinetoEvent& event) {
  const bool on_device =
      event.process.text == kLegacyDevice || device_processes_.contains(number_of(event.process));
  if (!on_device && event.process.text != kLegacyHost && event.start && event.duration) ++uncategorized_;
  return *find_category(on_device                           ? "kernel"
                        : event.process.text == kLegacyHost ? "cpu_op"
                                                            : "user_annotation");
}

void KinetoBuilder::add_host(const KinetoEvent& event, HostKind kind, Interval time) {
  HostEvent row;
  row.start = time.start;
  row.end = time.end;
  const HostKind* const told = find_kind_argument(event.kind);
  row.kind = told == nullptr ? refine_kind(kind, event.name) : *told;
  row.name = intern(event.name);
  row.thread = thread_of(event);
  row.correlation = event.correlation;
  // An API call outside of any operator has the id 0 or, in the files of some years, its own correlation.
  if (event.external_id > 0 && event.external_id != event.correlation) row.external_id = event.external_id;
  if (row.kind == HostKind::kOperator || row.kind == HostKind::kRange) row.detail = add_operator(event);
  trace_.host_events.push_back(row);
}

int32_t KinetoBuilder::add_operator(const KinetoEvent& event) {
  OperatorDetail detail;
  detail.input_shapes = intern(event.input_shapes);
  detail.input_types = intern(event.input_types);
  detail.call_stack = intern(event.call_stack);
  detail.module = intern(event.module);
  detail.sequence = valid(event.sequence);
  const bool empty = detail.input_shapes == 0 && detail.input_types == 0 && detail.call_stack == 0 &&
                     detail.module == 0 && detail.sequence == kNone;
  if (empty) return -1;
  trace_.operators.push_back(detail);
  return static_cast<int32_t>(trace_.operators.size() - 1);
}

void KinetoBuilder::add_device(const KinetoEvent& event, DeviceKind kind, Interval time) {
  DeviceEvent row;
  row.start = time.start;
  row.end = time.end;
  row.kind = kind;
  row.name = intern(event.name);
  row.device = narrow(event.device != kNone ? event.device : event.process.number.value_or(0), 0);
  row.context = valid(event.context);
  row.stream = valid(event.stream != kNone ? event.stream : event.thread.number.value_or(kNone));
  row.correlation = event.correlation;
  if (event.graph_node > 0) row.graph_node = event.graph_node;
  if (event.graph > 0) row.graph = event.graph;
  row.channel = narrow(valid(event.channel), -1);
  row.channel_type = narrow(valid(event.channel_type), -1);
  row.detail = kind == DeviceKind::kKernel ? add_launch(event) : add_transfer(event);
  see_stream(row.device, row.context, row.stream, event.priority);
  trace_.device_events.push_back(row);
}

int32_t KinetoBuilder::add_launch(const KinetoEvent& event) {
  KernelLaunch launch;
  launch.grid = event.grid;
  launch.block = event.block;
  launch.registers_per_thread = narrow(event.registers, 0);
  launch.dynamic_shared_bytes = event.shared_bytes;  // the file has the sum of static and dynamic
  launch.recorded_occupancy = event.occupancy;
  launch.collective = intern(event.collective);
  trace_.launches.push_back(launch);
  return static_cast<int32_t>(trace_.launches.size() - 1);
}

int32_t KinetoBuilder::add_transfer(const KinetoEvent& event) {
  Transfer transfer = parse_transfer_name(event.name);
  transfer.bytes = event.bytes;
  trace_.transfers.push_back(transfer);
  return static_cast<int32_t>(trace_.transfers.size() - 1);
}

void KinetoBuilder::add_synchronization(const KinetoEvent& event, Interval time) {
  const SyncKind* kind = find_sync_kind(event.name);
  if (kind == nullptr) return ignore(event.name);
  Synchronization row;
  row.start = time.start;
  row.end = time.end;
  row.kind = *kind;
  row.device = narrow(event.device != kNone ? event.device : event.process.number.value_or(0), 0);
  row.context = valid(event.context);
  int64_t stream = event.stream != kNone ? event.stream : event.thread.number.value_or(kNone);
  if (event.stream == kNone && stream >= kSyncRow) stream -= kSyncRow;
  row.stream = valid(stream);
  row.event = valid(event.wait_on_event);
  row.event_record = valid(event.wait_on_record);
  row.correlation = event.correlation;
  if (row.event_record != kNone) add_waited_record(event);
  trace_.synchronizations.push_back(row);
}

EventRecord& KinetoBuilder::record_of(int64_t id) {
  const auto [place, added] = records_.emplace(id, trace_.event_records.size());
  if (added) {
    trace_.event_records.emplace_back();
    trace_.event_records.back().id = id;
    trace_.event_records.back().correlation = id;
  }
  return trace_.event_records[place->second];
}

/// A wait names the call that recorded its event; in files without rows of events, this is the only
/// information.
void KinetoBuilder::add_waited_record(const KinetoEvent& event) {
  EventRecord& record = record_of(event.wait_on_record);
  if (record.event == kNone) record.event = valid(event.wait_on_event);
  if (record.stream == kNone) record.stream = valid(event.wait_on_stream);
  if (record.context == kNone) record.context = valid(event.context);
  record.device = narrow(event.device, record.device);
}

void KinetoBuilder::add_event_record(const KinetoEvent& event) {
  if (valid(event.correlation) == kNone) {
    ++incomplete_;
    return;
  }
  EventRecord& record = record_of(event.correlation);
  record.event = valid(event.event);
  record.device = narrow(event.device, 0);
  record.context = valid(event.context);
  record.stream = valid(event.stream);
  if (*event.start > 0) record.completed = *event.start;  // 0 or less: CUDA before 12.8 does not report it
}

void KinetoBuilder::add_instant(const KinetoEvent& event) {
  if (event.name != "[memory]") {
    if (event.category == "cpu_instant_event") ignore(event.name);
    return;
  }
  if (!event.start) {
    ++incomplete_;
    return;
  }
  Allocation row;
  row.time = *event.start;
  row.device = event.device_type == 0 ? -1 : narrow(event.device_id, -1);
  row.thread = thread_of(event);
  row.address = event.address;
  row.bytes = event.bytes;
  row.total_allocated = event.total_allocated;
  row.total_reserved = event.total_reserved;
  trace_.allocations.push_back(row);
}

void KinetoBuilder::add_counter(const KinetoEvent& event) {
  if (!event.start || !event.counter_value) {
    ++incomplete_;
    return;
  }
  std::string name(event.name);
  if (!event.counter.empty()) name += " " + std::string(event.counter);
  CounterSample row;
  row.time = *event.start;
  row.counter = intern(name);
  row.device = narrow(device_of_counters(event.process), 0);
  row.value = *event.counter_value;
  trace_.counter_samples.push_back(row);
}

void KinetoBuilder::add_metadata(const KinetoEvent& event) {
  if (event.name == "process_name" && event.label.starts_with(kDeviceProcess) &&
      device_processes_.size() < kMostThreadNames)
    device_processes_.insert(number_of(event.process));
  if (event.name != "thread_name" || event.label.empty()) return;
  if (thread_names_.size() >= kMostThreadNames) return;
  thread_names_[{number_of(event.process), number_of(event.thread)}] = plain_thread_name(event.label);
}

void KinetoBuilder::see_stream(int32_t device, int64_t context, int64_t stream, int64_t priority) {
  if (contexts_.insert(context).second && context != kNone) {
    trace_.contexts.push_back({context, device, 0, kNone});
  }
  if (!streams_.insert({context, stream}).second || stream == kNone) return;
  trace_.streams.push_back({context, stream, StreamKind::kUnknown, narrow(priority, 0)});
}

/// Texts without a number get a negative number, which no system uses.
int64_t KinetoBuilder::number_of(const KinetoPlace& place) {
  if (place.number) return *place.number;
  return -2 - static_cast<int64_t>(intern(place.text));
}

int32_t KinetoBuilder::thread_of(const KinetoEvent& event) {
  const std::pair<int64_t, int64_t> place{number_of(event.process), number_of(event.thread)};
  if (place == last_place_ && last_thread_ >= 0) return last_thread_;
  const auto [found, added] = threads_.emplace(place, static_cast<int32_t>(trace_.threads.size()));
  if (added) {
    const StringId name = event.thread.number ? 0 : intern(event.thread.text);
    trace_.threads.push_back({place.first, place.second, name});
  }
  last_place_ = place;
  last_thread_ = found->second;
  return last_thread_;
}

void KinetoBuilder::ignore(std::string_view category) {
  auto found = ignored_.find(category);
  if (found == ignored_.end())
    found = ignored_.emplace(ignored_.size() < kMostIgnored ? category.substr(0, 64) : "others", 0).first;
  ++found->second;
}

void KinetoBuilder::name_threads() {
  for (const auto& [place, name] : thread_names_) {
    const auto found = threads_.find(place);
    if (found == threads_.end()) continue;
    trace_.threads[static_cast<size_t>(found->second)].name = intern(name);
  }
}

void KinetoBuilder::note_losses() {
  if (unreadable_ != 0)
    trace_.doubt(Severity::kLoss, "events", "were no valid JSON and were left out", unreadable_);
  if (incomplete_ != 0)
    trace_.doubt(Severity::kLoss, "events", "lacked a time or a value and were left out", incomplete_);
  if (uncategorized_ != 0)
    trace_.doubt(Severity::kNote, "events", "had no category and are shown as ranges of the host",
                 uncategorized_);
  if (beyond_ != 0)
    trace_.doubt(
        Severity::kLoss, "events",
        "were more than fit the memory (half of the machine's, or HONE_MEMORY_LIMIT_MB) and were left out",
        beyond_);
  for (const auto& [category, count] : ignored_)
    trace_.doubt(Severity::kNote, "events", "of a kind that no analysis uses were left out: " + category,
                 count);
}

Trace KinetoBuilder::finish() {
  name_threads();
  for (const auto& [thread, open] : begun_) incomplete_ += static_cast<int64_t>(open.size());
  mark_asynchronous(trace_);
  note_losses();
  // All rows of a Kineto file belong to one process.
  for (Context& context : trace_.contexts) {
    for (const HostEvent& event : trace_.host_events) {
      if (event.kind != HostKind::kRuntimeApi && event.kind != HostKind::kDriverApi) continue;
      context.process = trace_.threads[static_cast<size_t>(event.thread)].process;
      break;
    }
  }
  trace_.metadata["source"] = "kineto";
  return std::move(trace_);
}

}  // namespace hone::trace
