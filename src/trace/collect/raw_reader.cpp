// See raw_reader.hpp.
#include "trace/collect/raw_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "trace/collect/raw_graphs.hpp"
#include "trace/collect/raw_names.hpp"
#include "trace/collect/raw_records.hpp"
#include "trace/collect/raw_threads.hpp"
#include "trace/cut.hpp"
#include "trace/transfer_names.hpp"

namespace hone::trace {
namespace {

/// Reads one file. Correlations, contexts and events are numbered per process, so each file gets its own
/// range of numbers.
class FileReader {
 public:
  FileReader(Trace& trace, std::string_view bytes, int64_t file_number, std::string name)
      : trace_(trace), bytes_(bytes), base_(file_number << 40), name_(std::move(name)) {}

  void read() {
    if (bytes_.size() < raw::kMagic.size() ||
        std::memcmp(bytes_.data(), raw::kMagic.data(), raw::kMagic.size()) != 0)
      fail_bad_input("{}: no recording of hone's collector", name_);
    size_t at = raw::kMagic.size();
    while (at < bytes_.size()) {
      raw::ChunkHeader header;
      if (bytes_.size() - at < sizeof header) return cut_off(bytes_.size() - at);
      std::memcpy(&header, bytes_.data() + at, sizeof header);
      if (header.magic == 0 && header.bytes == 0)
        return;  // unused end of a file that was enlarged in advance
      at += sizeof header;
      if (header.magic != raw::ChunkHeader::kChunkMagic || header.bytes > bytes_.size() - at)
        return cut_off(bytes_.size() - at);
      read_chunk(bytes_.substr(at, header.bytes));
      at += header.bytes;
    }
  }

  /// Called after all chunks: a clone may be announced before or after the edges of its original.
  void finish() {
    graphs_.add_to(trace_, base_);
    if (announces_end_ && !ended_)
      trace_.doubt(
          Severity::kLoss, "collector",
          fmt::format("process {} ended without running its exit handlers (a signal, _exit): what the "
                      "collector had not written by then is lost",
                      process_));
  }

  /// The windows in which everything was recorded; empty if the whole process was recorded.
  const std::vector<Span>& windows() const { return windows_; }

 private:
  void cut_off(size_t bytes) {
    trace_.doubt(Severity::kLoss, "file",
                 fmt::format("the recording of process {} breaks off; what came after is lost", process_),
                 static_cast<int64_t>(bytes == 0 ? 1 : bytes));
  }

  void read_chunk(std::string_view chunk) {
    while (chunk.size() >= sizeof(raw::Header)) {
      raw::Header header{};
      std::memcpy(&header, chunk.data(), sizeof header);
      if (header.type == raw::Type{} && header.bytes == 0) return;
      if (header.bytes < sizeof header || header.bytes > chunk.size()) return cut_off(chunk.size());
      read_record(header.type, chunk.substr(0, header.bytes));
      chunk.remove_prefix(header.bytes);
    }
  }

  /// A record of an earlier version is shorter; the fields that it lacks keep their defaults.
  template <class Record>
  static Record as(std::string_view bytes) {
    Record record;
    std::memcpy(static_cast<void*>(&record), bytes.data(), std::min(bytes.size(), sizeof record));
    return record;
  }

  void read_record(raw::Type type, std::string_view bytes) {
    switch (type) {
      case raw::Type::kText: return add_text(bytes);
      case raw::Type::kProcess: return add(as<raw::Process>(bytes));
      case raw::Type::kThreadName: return add(as<raw::ThreadName>(bytes));
      case raw::Type::kApi: return add(as<raw::Api>(bytes));
      case raw::Type::kKernel: return add(as<raw::Kernel>(bytes));
      case raw::Type::kCopy: return add(as<raw::Copy>(bytes));
      case raw::Type::kSet: return add(as<raw::Set>(bytes));
      case raw::Type::kSync: return add(as<raw::Sync>(bytes));
      case raw::Type::kEventRecord: return add(as<raw::EventRecord>(bytes));
      case raw::Type::kOverhead: return add(as<raw::Overhead>(bytes));
      case raw::Type::kRange: return add(as<raw::Range>(bytes));
      case raw::Type::kGraphNode: return add(as<raw::GraphNode>(bytes));
      case raw::Type::kGraphEdge: return graphs_.add_edge(as<raw::GraphEdge>(bytes));
      case raw::Type::kContext: return add(as<raw::Context>(bytes));
      case raw::Type::kStream: return add(as<raw::Stream>(bytes));
      case raw::Type::kDevice: return add(as<raw::Device>(bytes));
      case raw::Type::kMemory: return add(as<raw::Memory>(bytes));
      case raw::Type::kLoss: return add(as<raw::Loss>(bytes));
      case raw::Type::kWindow: return add(as<raw::Window>(bytes));
      case raw::Type::kCounter: return add(as<raw::Counter>(bytes));
      case raw::Type::kKernelMetric: return add(as<raw::KernelMetric>(bytes));
      case raw::Type::kThreadCall: return add(as<raw::ThreadCall>(bytes));
      case raw::Type::kEnd: ended_ = true; return;
    }
    trace_.doubt(Severity::kLoss, "file", "records are of a kind that this program does not know");
  }

  StringId text(uint32_t id) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? 0 : found->second;
  }

  StringId kernel_name(uint32_t id) {
    const auto [place, is_new] = kernel_names_.try_emplace(id, 0);
    if (is_new) place->second = trace_.strings.intern(demangled(trace_.text(text(id))));
    return place->second;
  }

  int32_t thread(uint32_t id) {
    const auto [place, is_new] = threads_.try_emplace(id, 0);
    if (is_new) place->second = trace_.thread_index(process_, id);
    return place->second;
  }

  int64_t own(uint64_t id) const {
    return id == 0 ? kNone : base_ + static_cast<int64_t>(id & 0xff'ffff'ffff);
  }

  void add_text(std::string_view bytes) {
    if (bytes.size() < sizeof(raw::Text)) return;
    texts_[as<raw::Text>(bytes).id] = trace_.strings.intern(bytes.substr(sizeof(raw::Text)));
  }

  void add(const raw::Process& from) {
    process_ = from.process;
    announces_end_ = announces_end_ || from.announces_end != 0;
    trace_.metadata["program"] = trace_.text(text(from.name));
    if (from.cupti_version != 0) trace_.metadata["cupti_version"] = std::to_string(from.cupti_version);
    trace_.metadata["utc_epoch_ns"] =
        std::to_string(static_cast<int64_t>(from.utc_ns) - static_cast<int64_t>(from.clock_ns));
  }

  void add(const raw::ThreadName& from) {
    trace_.threads[static_cast<size_t>(thread(from.thread))].name = text(from.name);
  }

  void add_host(HostKind kind, uint64_t start, uint64_t end, StringId name, uint32_t thread_id,
                int64_t correlation, int64_t result = 0) {
    HostEvent event{
        static_cast<Time>(start), static_cast<Time>(end), kind, name, thread(thread_id), correlation};
    event.result = result;
    trace_.host_events.push_back(event);
  }

  void add(const raw::Api& from) {
    add_host(from.driver != 0 ? HostKind::kDriverApi : HostKind::kRuntimeApi, from.start, from.end,
             text(from.name), from.thread, own(from.correlation), from.result);
  }

  void add(const raw::Overhead& from) {
    add_host(HostKind::kOverhead, from.start, from.end, trace_.strings.intern(overhead_name(from.kind)),
             from.thread, own(from.correlation));
  }

  void add(const raw::Range& from) {
    const StringId name = text(from.name);
    const bool step = trace_.text(name).starts_with("ProfilerStep#");
    add_host(step ? HostKind::kStep : HostKind::kRange, from.start, from.end, name, from.thread, kNone);
  }

  template <class From>
  DeviceEvent& add_device(DeviceKind kind, const From& from, StringId name) {
    DeviceEvent event{static_cast<Time>(from.start), static_cast<Time>(from.end), kind, name};
    event.device = static_cast<int32_t>(from.device);
    event.context = own(from.context);
    event.stream = base_ + from.stream;
    event.correlation = own(from.correlation);
    event.graph_node = from.graph_node == 0 ? kNone : base_ + graphs_.number(from.graph_node);
    event.graph = own(from.graph);
    if (from.channel_type != 0) {
      event.channel = static_cast<int32_t>(from.channel);
      event.channel_type = static_cast<int32_t>(from.channel_type);
    }
    trace_.device_events.push_back(event);
    return trace_.device_events.back();
  }

  void add(const raw::Kernel& from) {
    DeviceEvent& event = add_device(DeviceKind::kKernel, from, kernel_name(from.name));
    event.detail = static_cast<int32_t>(trace_.launches.size());
    KernelLaunch launch;
    launch.grid = from.grid;
    launch.block = from.block;
    for (size_t i = 0; i < launch.cluster.size(); ++i)
      launch.cluster[i] = static_cast<int32_t>(from.cluster[i]);
    launch.registers_per_thread = static_cast<int32_t>(from.registers_per_thread);
    launch.static_shared_bytes = from.static_shared;
    launch.dynamic_shared_bytes = from.dynamic_shared;
    launch.local_bytes_per_thread = from.local_per_thread;
    if (from.tensor_use <= raw::TensorUse::kYes) launch.tensor_use = static_cast<TensorUse>(from.tensor_use);
    trace_.launches.push_back(launch);
  }

  void add(const raw::Copy& from) {
    add_transfer(DeviceKind::kCopy, from,
                 {static_cast<int64_t>(from.bytes), copy_direction(from.copy_kind),
                  memory_kind(from.source_kind), memory_kind(from.destination_kind), from.asynchronous != 0});
  }

  void add(const raw::Set& from) {
    add_transfer(DeviceKind::kSet, from,
                 {static_cast<int64_t>(from.bytes), CopyDirection::kUnknown, MemoryKind::kUnknown,
                  memory_kind(from.memory_kind), from.asynchronous != 0});
  }

  template <class From>
  void add_transfer(DeviceKind kind, const From& from, const Transfer& transfer) {
    DeviceEvent& event = add_device(kind, from, trace_.strings.intern(transfer_name(kind, transfer)));
    event.detail = static_cast<int32_t>(trace_.transfers.size());
    trace_.transfers.push_back(transfer);
  }

  void add(const raw::Sync& from) {
    const std::optional<SyncKind> kind = sync_kind(from.sync_type);
    if (!kind)
      return trace_.doubt(Severity::kLoss, "synchronizations",
                          "are of a kind that this program does not know");
    Synchronization sync{static_cast<Time>(from.start), static_cast<Time>(from.end), *kind};
    sync.context = own(from.context);
    if (*kind != SyncKind::kContextSynchronize && from.stream != kInvalidStream)
      sync.stream = base_ + from.stream;
    if (*kind == SyncKind::kEventSynchronize || *kind == SyncKind::kStreamWaitEvent) {
      sync.event = own(from.event);
      sync.event_record = own(from.event_sync);
    }
    sync.correlation = own(from.correlation);
    trace_.synchronizations.push_back(sync);
  }

  void add(const raw::EventRecord& from) {
    EventRecord record;
    record.id = own(from.event_sync);
    record.event = own(from.event);
    record.device = static_cast<int32_t>(from.device);
    record.context = own(from.context);
    record.stream = base_ + from.stream;
    record.correlation = own(from.correlation);
    if (from.completed != 0) record.completed = static_cast<Time>(from.completed);
    trace_.event_records.push_back(record);
  }

  void add(const raw::ThreadCall& from) {
    const int32_t unlocked_by = from.unlocked == 0 ? -1 : thread(from.unlocked_by);
    add_thread_call(trace_, from, thread(from.thread), unlocked_by);
  }

  void add(const raw::GraphNode& from) { graphs_.add_node(from, text(from.range)); }

  void add(const raw::Context& from) {
    trace_.contexts.push_back(
        {own(from.id), static_cast<int32_t>(from.device), process_, base_ + from.null_stream});
  }

  void add(const raw::Stream& from) {
    trace_.streams.push_back({own(from.context), base_ + from.id, stream_kind(from.flag), from.priority});
  }

  void add(const raw::Device& from) {
    if (trace_.find_device(static_cast<int32_t>(from.id)) != nullptr) return;
    DeviceProperties device;
    device.id = static_cast<int32_t>(from.id);
    device.name = text(from.name);
    device.memory_bytes = static_cast<int64_t>(from.memory_bytes);
    device.compute_major = static_cast<int32_t>(from.compute_major);
    device.compute_minor = static_cast<int32_t>(from.compute_minor);
    device.multiprocessors = static_cast<int32_t>(from.multiprocessors);
    device.warp_size = static_cast<int32_t>(from.warp_size);
    device.threads_per_multiprocessor = static_cast<int32_t>(from.warps_per_multiprocessor * from.warp_size);
    device.registers_per_multiprocessor = static_cast<int32_t>(from.registers_per_multiprocessor);
    device.shared_bytes_per_multiprocessor = from.shared_per_multiprocessor;
    device.blocks_per_multiprocessor = static_cast<int32_t>(from.blocks_per_multiprocessor);
    device.uuid = text(from.uuid);
    trace_.devices.push_back(device);
  }

  void add(const raw::Memory& from) {
    constexpr uint32_t kAllocated = 1;  // CUpti_ActivityMemoryOperationType
    constexpr uint32_t kReleased = 2;
    if (from.operation != kAllocated && from.operation != kReleased) return;
    Allocation allocation;
    allocation.time = static_cast<Time>(from.time);
    const MemoryKind kind = memory_kind(from.memory_kind);
    const bool on_host = kind == MemoryKind::kPageable || kind == MemoryKind::kPinned;
    allocation.device = on_host ? -1 : static_cast<int32_t>(from.device);
    allocation.address = static_cast<int64_t>(from.address);
    allocation.bytes = static_cast<int64_t>(from.bytes) * (from.operation == kReleased ? -1 : 1);
    allocation.source = trace_.strings.intern(memory_kind_name(kind));
    trace_.allocations.push_back(allocation);
  }

  void add(const raw::Loss& from) {
    const auto severity = from.severity > static_cast<uint32_t>(Severity::kLoss)
                              ? Severity::kLoss
                              : static_cast<Severity>(from.severity);
    trace_.doubt(severity, trace_.text(text(from.about)), trace_.text(text(from.text)), from.count);
  }

  void add(const raw::Counter& from) {
    const StringId name = text(from.name);
    trace_.counter_units.try_emplace(name, trace_.text(text(from.unit)));
    trace_.counter_samples.push_back(
        {static_cast<Time>(from.time), name, static_cast<int32_t>(from.device), from.value});
  }

  void add(const raw::KernelMetric& from) {
    KernelMetric row;
    row.process = process_;
    row.launch = static_cast<int64_t>(from.launch & 0x7fff'ffff'ffff'ffff);
    row.device = static_cast<int32_t>(from.device);
    row.kernel = kernel_name(from.kernel);
    row.range = text(from.range);
    row.metric = text(from.metric);
    row.value = from.value;
    trace_.kernel_metrics.push_back(row);
  }

  void add(const raw::Window& from) {
    const auto time = static_cast<Time>(std::min<uint64_t>(from.time, kLatestTime));
    if (from.opens != 0) {
      windows_.push_back({time, kLatestTime});
    } else if (!windows_.empty()) {
      windows_.back().end = time;
    }
  }

  /// CUPTI_SYNCHRONIZATION_INVALID_VALUE: no stream is concerned.
  static constexpr uint32_t kInvalidStream = 0xffffffff;

  Trace& trace_;
  std::string_view bytes_;
  int64_t base_;
  std::string name_;
  int64_t process_ = 0;
  bool announces_end_ = false;
  bool ended_ = false;
  std::unordered_map<uint32_t, StringId> texts_;
  std::unordered_map<uint32_t, StringId> kernel_names_;
  std::unordered_map<uint32_t, int32_t> threads_;
  RawGraphs graphs_;
  std::vector<Span> windows_;
};

std::vector<Span> merged(std::vector<Span> windows) {
  std::sort(windows.begin(), windows.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> result;
  for (const Span& window : windows) {
    if (result.empty() || result.back().end < window.start) {
      result.push_back(window);
    } else {
      result.back().end = std::max(result.back().end, window.end);
    }
  }
  return result;
}

}  // namespace

Trace read_raw(const std::vector<std::filesystem::path>& files) {
  Trace trace;
  std::vector<Span> windows;
  int64_t number = 0;
  for (const std::filesystem::path& path : files) {
    const base::MappedFile file(path);
    FileReader reader(trace, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                      number++, path.string());
    reader.read();
    reader.finish();
    windows.insert(windows.end(), reader.windows().begin(), reader.windows().end());
  }
  if (!windows.empty()) cut(trace, merged(std::move(windows)));
  normalize(trace);
  return trace;
}

}  // namespace hone::trace
