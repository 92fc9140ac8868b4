// See device_events.hpp.
#include "trace/collect/device_events.hpp"

#include "trace/collect/raw_names.hpp"
#include "trace/transfer_names.hpp"

namespace hone::trace {
namespace {

using base::DeviceRecord;
using base::DeviceWork;

/// The program has one context and one stream.
constexpr int64_t kContext = 1;
constexpr int64_t kNullStream = 0;
constexpr int64_t kStream = 1;

class Adder {
 public:
  Adder(Trace& trace, const DeviceRecord& record, int64_t process, int64_t cycle)
      : trace_(trace), record_(record), process_(process), base_(cycle << 32) {}

  void add() {
    add_device();
    for (size_t i = 0; i < record_.calls.size(); ++i) add_call(record_.calls[i], number(i));
    for (size_t i = 0; i < record_.nodes.size(); ++i) {
      trace_.graph_nodes.push_back({number(i), graph(), kNone, text(record_.nodes[i].step)});
      if (i > 0) trace_.graph_edges.push_back({number(i - 1), number(i)});
    }
    for (const DeviceWork& work : record_.work) add_work(work);
    if (base_ != 0) return;  // later cycles report nothing else
    for (const std::string& note : record_.notes) trace_.doubt(Severity::kNote, "kernels", note, 0);
  }

 private:
  int64_t number(size_t index) const { return base_ + static_cast<int64_t>(index) + 1; }
  int64_t graph() const { return base_ + 1; }
  StringId text(int64_t index) const {
    return trace_.strings.intern(record_.texts[static_cast<size_t>(index)]);
  }

  void add_device() {
    const base::DeviceDescription& from = record_.device;
    if (trace_.find_device(from.ordinal) != nullptr) return;
    DeviceProperties device;
    device.id = from.ordinal;
    device.name = trace_.strings.intern(from.name);
    device.uuid = trace_.strings.intern(from.uuid);
    device.memory_bytes = from.memory_bytes;
    device.compute_major = from.compute_major;
    device.compute_minor = from.compute_minor;
    device.multiprocessors = from.multiprocessors;
    device.warp_size = from.warp_size;
    device.threads_per_multiprocessor = from.threads_per_multiprocessor;
    device.registers_per_multiprocessor = from.registers_per_multiprocessor;
    device.shared_bytes_per_multiprocessor = from.shared_bytes_per_multiprocessor;
    device.blocks_per_multiprocessor = from.blocks_per_multiprocessor;
    trace_.devices.push_back(device);
    trace_.contexts.push_back({kContext, from.ordinal, process_, kNullStream});
    trace_.streams.push_back({kContext, kStream, StreamKind::kNonBlocking, 0});
  }

  void add_call(const base::DeviceCall& call, int64_t correlation) {
    trace_.host_events.push_back({call.start_ns, call.end_ns, HostKind::kRuntimeApi, text(call.name),
                                  trace_.thread_index(process_, call.thread), correlation});
    if (!call.waits) return;
    Synchronization wait{call.start_ns, call.end_ns, SyncKind::kStreamSynchronize};
    wait.device = record_.device.ordinal;
    wait.context = kContext;
    wait.stream = kStream;
    wait.correlation = correlation;
    trace_.synchronizations.push_back(wait);
  }

  void add_work(const DeviceWork& work) {
    DeviceEvent event{work.start_ns, work.end_ns};
    event.device = record_.device.ordinal;
    event.context = kContext;
    event.stream = kStream;
    event.correlation = number(static_cast<size_t>(work.call));
    if (work.node >= 0) {
      event.graph_node = number(static_cast<size_t>(work.node));
      event.graph = graph();
    }
    if (work.kind == DeviceWork::Kind::kKernel) {
      event.name = trace_.strings.intern(demangled(record_.texts[static_cast<size_t>(work.name)]));
      event.detail = static_cast<int32_t>(trace_.launches.size());
      trace_.launches.push_back(launch_of(record_.launches[static_cast<size_t>(work.launch)]));
    } else {
      const bool fills = work.kind == DeviceWork::Kind::kFill;
      event.kind = fills ? DeviceKind::kSet : DeviceKind::kCopy;
      const Transfer transfer = transfer_of(work);
      event.name = trace_.strings.intern(transfer_name(event.kind, transfer));
      event.detail = static_cast<int32_t>(trace_.transfers.size());
      trace_.transfers.push_back(transfer);
    }
    trace_.device_events.push_back(event);
  }

  static KernelLaunch launch_of(const base::DeviceLaunch& from) {
    KernelLaunch launch;
    launch.grid = from.grid;
    launch.block = from.block;
    launch.cluster = from.cluster;
    launch.registers_per_thread = from.registers_per_thread;
    launch.static_shared_bytes = from.static_shared_bytes;
    launch.dynamic_shared_bytes = from.dynamic_shared_bytes;
    launch.local_bytes_per_thread = from.local_bytes_per_thread;
    launch.programmatic = from.programmatic;
    return launch;
  }

  static Transfer transfer_of(const DeviceWork& work) {
    switch (work.kind) {
      case DeviceWork::Kind::kCopyToDevice:
        return {work.bytes, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, true};
      case DeviceWork::Kind::kCopyToHost:
        return {work.bytes, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned, true};
      case DeviceWork::Kind::kCopyWithin:
        return {work.bytes, CopyDirection::kDeviceToDevice, MemoryKind::kDevice, MemoryKind::kDevice, true};
      case DeviceWork::Kind::kFill:
      case DeviceWork::Kind::kKernel: break;
    }
    return {work.bytes, CopyDirection::kUnknown, MemoryKind::kUnknown, MemoryKind::kDevice, true};
  }

  Trace& trace_;
  const DeviceRecord& record_;
  int64_t process_;
  int64_t base_;
};

}  // namespace

void add_device_record(Trace& trace, const base::DeviceRecord& record, int64_t process, int64_t cycle) {
  if (!record.calls.empty()) Adder(trace, record, process, cycle).add();
}

}  // namespace hone::trace
