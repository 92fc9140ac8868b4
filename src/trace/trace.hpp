// The event model: all data about a profiled window, from any recorder (our collector, Kineto, Nsight
// Systems). Readers fill it, the store saves it, analyses read it. Rows are plain data that refer to each
// other by ids, so that any part may be missing; `doubts` describes missing and doubtful parts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/string_table.hpp"

namespace hone::trace {

/// Nanoseconds; only differences are meaningful. `Trace::metadata["utc_epoch_ns"]` is the wall clock at time
/// 0.
using Time = int64_t;

/// All times of a normalized trace are within this limit on either side of 0 (126 years), so the difference
/// of two times cannot overflow.
constexpr Time kLatestTime = 4'000'000'000'000'000'000;

/// The value of an id that was not recorded.
constexpr int64_t kNone = -1;

/// The kind of a host thread's activity. Intervals of one kind and thread nest.
enum class HostKind : uint8_t {
  kOperator,      ///< of a framework: aten::conv2d
  kRange,         ///< NVTX push and pop, record_function
  kStep,          ///< one iteration: ProfilerStep#3, or the schedule of `hone profile`
  kEngineStep,    ///< one step of our engine, on the CPU
  kRuntimeApi,    ///< cudaLaunchKernel
  kDriverApi,     ///< cuLaunchKernel
  kPython,        ///< a Python function or module
  kOverhead,      ///< the profiler's own work, or the driver's (lazy loading, a full launch queue)
  kHostFunction,  ///< a callback of cudaLaunchHostFunc or a graph's host node
  kThreadApi      ///< pthread_join and other calls that wait for a thread or make one
};

struct HostEvent {
  Time start = 0;
  Time end = 0;
  HostKind kind = HostKind::kOperator;
  StringId name = 0;
  int32_t thread = 0;           ///< index into Trace::threads
  int64_t correlation = kNone;  ///< API calls: joins them to the operations that they launched
  int64_t external_id = kNone;  ///< operators and what they call: joins API calls to operators
  int32_t detail = -1;          ///< operators: index into Trace::operators
  int64_t result = 0;           ///< API calls: the returned value
};

/// A framework's details of an operator call.
struct OperatorDetail {
  StringId input_shapes = 0;  ///< JSON, as recorded
  StringId input_types = 0;   ///< JSON, as recorded
  StringId call_stack = 0;
  StringId module = 0;
  int64_t sequence = kNone;  ///< autograd's number, which joins forward and backward
};

enum class DeviceKind : uint8_t { kKernel, kCopy, kSet };

/// An operation of a GPU.
struct DeviceEvent {
  Time start = 0;
  Time end = 0;
  DeviceKind kind = DeviceKind::kKernel;
  StringId name = 0;
  int32_t device = 0;           ///< DeviceProperties::id
  int64_t context = kNone;      ///< Context::id
  int64_t stream = kNone;       ///< Stream::id
  int64_t correlation = kNone;  ///< of the API call that launched it; all nodes of one graph launch share it
  int64_t graph_node = kNone;   ///< GraphNode::id, if the operation ran inside a CUDA graph
  int64_t graph = kNone;
  int32_t channel = -1;       ///< hardware queue; events of one queue run in order, whatever their streams
  int32_t channel_type = -1;  ///< 1 compute, 2 asynchronous copies, 3 decompression (CUpti_ChannelType)
  int32_t detail = -1;        ///< index into Trace::launches (kernels) or Trace::transfers (copies, sets)
};

/// States whether the code of a kernel holds instructions for Tensor Cores.
enum class TensorUse : uint8_t { kUnknown, kNo, kYes };

/// The launch parameters of a kernel. Zero if not recorded.
struct KernelLaunch {
  std::array<int32_t, 3> grid{};
  std::array<int32_t, 3> block{};
  std::array<int32_t, 3> cluster{};
  int32_t registers_per_thread = 0;
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_bytes = 0;
  int64_t local_bytes_per_thread = 0;
  bool programmatic = false;  ///< may start before the previous kernel has ended
  double recorded_occupancy =
      -1;                   ///< in per cent, as in the file (Kineto's estimate); -1 if the file has none
  StringId collective = 0;  ///< NCCL: the name of the operation
  TensorUse tensor_use = TensorUse::kUnknown;
};

/// CUpti_ActivityMemoryKind and cudaMemcpyKind with our own numbers, so that all recorders agree.
enum class MemoryKind : uint8_t { kUnknown, kPageable, kPinned, kDevice, kArray, kManaged };
enum class CopyDirection : uint8_t {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kHostToHost,
  kPeerToPeer
};

struct Transfer {
  int64_t bytes = 0;
  CopyDirection direction = CopyDirection::kUnknown;  ///< unknown for memsets
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
  bool asynchronous = false;
};

enum class SyncKind : uint8_t {
  kEventSynchronize,
  kStreamWaitEvent,
  kStreamSynchronize,
  kContextSynchronize
};

/// A wait: of the host (the API call with the same correlation) or of a stream for an event.
struct Synchronization {
  Time start = 0;
  Time end = 0;
  SyncKind kind = SyncKind::kContextSynchronize;
  int32_t device = 0;
  int64_t context = kNone;
  int64_t stream = kNone;        ///< the stream that waited, or for which the call waited
  int64_t event = kNone;         ///< id of the cudaEvent_t, which is reused
  int64_t event_record = kNone;  ///< EventRecord::id of the awaited record; kNone if only `event` is known
  int64_t correlation = kNone;
};

/// One cudaEventRecord.
struct EventRecord {
  int64_t id = kNone;  ///< unique (CUPTI's cudaEventSyncId, or the correlation of the call)
  int64_t event = kNone;
  int32_t device = 0;
  int64_t context = kNone;
  int64_t stream = kNone;
  int64_t correlation = kNone;
  Time completed = kNone;  ///< time on the device, if recorded
};

enum class ThreadOperation : uint8_t {
  kCreate,  ///< lets the thread start
  kStart,   ///< a thread began
  kExit,    ///< a thread ended, which lets a join return
  kJoin,
  kUnlock,  ///< lets a lock return
  kLock,
  kSignal,  ///< wakes one thread or all; lets a wait for the condition variable return
  kConditionWait,
  kPost,  ///< lets a wait for the semaphore return
  kSemaphoreWait
};

/// Either an action of a thread for which another thread waits (it takes no time), or a wait for another
/// thread until `end`. Only successful waits are listed; they have the thread and start of their call.
struct ThreadSync {
  Time start = 0;
  Time end = 0;
  ThreadOperation operation = ThreadOperation::kStart;
  int32_t thread = 0;  ///< index into Trace::threads
  int64_t object = 0;  ///< the thread that was created, begun, ended or joined; else the mutex, condition
                       ///< variable or semaphore
};

/// A node of an instantiated CUDA graph.
struct GraphNode {
  int64_t id = kNone;  ///< as DeviceEvent::graph_node
  int64_t graph = kNone;
  int64_t original = kNone;  ///< the node from which it was cloned at instantiation
  StringId range = 0;        ///< innermost range of the thread that created the node: the step of our engine
};

/// `to` runs after `from` has ended.
struct GraphEdge {
  int64_t from = kNone;
  int64_t to = kNone;
};

/// Facts that the recorded system reported about one of its steps; ranges and graph nodes have the name of
/// the step.
struct ModelStep {
  StringId name = 0;
  StringId kind = 0;  ///< operator
  StringId tactic = 0;
  StringId sources = 0;  ///< JSON, names of the model's nodes
  StringId inputs = 0;   ///< JSON, types and shapes
  StringId outputs = 0;  ///< JSON
  double flops = 0;      ///< a multiply-add counts as two; 0 if unknown
  double bytes = 0;      ///< inputs, weights and outputs, each counted once
  /// JSON, indices of the earlier steps whose outputs the step reads; empty if not recorded.
  StringId predecessors = 0;
  /// JSON, a list of {tactic, layout, time_us, chosen, refusal}; empty if not recorded.
  StringId rivals = 0;
};

/// Memory that was allocated (bytes > 0) or freed (bytes < 0).
struct Allocation {
  Time time = 0;
  int32_t device = 0;  ///< -1 for the host
  int32_t thread = -1;
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t total_allocated = kNone;  ///< total after the operation, as reported by the allocator
  int64_t total_reserved = kNone;
  StringId source = 0;  ///< the API or allocator
};

struct CounterSample {
  Time time = 0;         ///< end of the sampled interval
  StringId counter = 0;  ///< "SMs active", with its unit in Trace::counter_units
  int32_t device = 0;
  double value = 0;
};

/// A metric of one launch of a kernel, which was run again for each pass of the measurement.
struct KernelMetric {
  int64_t process = 0;
  int64_t launch = 0;  ///< index among the measured launches of the process, from 0
  int32_t device = 0;
  StringId kernel = 0;
  StringId range = 0;   ///< innermost range of the launching thread: the step of our engine
  StringId metric = 0;  ///< "achieved_occupancy", "dram__bytes_read.sum"
  StringId unit = 0;    ///< "%", "B", "B/s"; empty for counts and ratios
  double value = 0;
};

/// CPU use of a thread during a step of an engine, whichever thread announced the step.
struct ThreadUsage {
  Time start = 0;  ///< of the step
  Time end = 0;
  int32_t thread = 0;
  StringId counter = 0;  ///< "CPU time" (ns), "cycles", "instructions", "cache misses"
  int64_t value = 0;
};

struct Thread {
  int64_t process = 0;
  int64_t id = 0;  ///< id that the system gave the thread
  StringId name = 0;
};

/// Zero if not recorded.
struct DeviceProperties {
  int32_t id = 0;
  StringId name = 0;
  int64_t memory_bytes = 0;
  int32_t compute_major = 0;
  int32_t compute_minor = 0;
  int32_t multiprocessors = 0;
  int32_t warp_size = 0;
  int32_t threads_per_multiprocessor = 0;
  int32_t registers_per_multiprocessor = 0;
  int64_t shared_bytes_per_multiprocessor = 0;
  int32_t blocks_per_multiprocessor = 0;
  StringId uuid = 0;  ///< "GPU-" and 32 digits in 5 groups, as NVML writes it
};

struct Context {
  int64_t id = kNone;
  int32_t device = 0;
  int64_t process = 0;
  int64_t null_stream = kNone;  ///< the id of the legacy default stream
};

enum class StreamKind : uint8_t { kBlocking, kNonBlocking, kNull, kUnknown };

struct Stream {
  int64_t context = kNone;
  int64_t id = kNone;
  StreamKind kind = StreamKind::kUnknown;
  int32_t priority = 0;
};

enum class Severity : uint8_t {
  kNote,   ///< how the trace was made, if that affects its figures
  kDoubt,  ///< figures may be inaccurate
  kLoss    ///< events are missing
};

/// A sentence about missing or doubtful parts of the trace. Every report shows these.
struct Doubt {
  Severity severity = Severity::kNote;
  std::string about;  ///< "kernels", "clock", "file"
  std::string text;   ///< one sentence
  int64_t count = 0;  ///< number of events concerned; 0 if not counted
};

struct Trace {
  StringTable strings;
  std::map<std::string, std::string> metadata;
  std::vector<Thread> threads;
  std::vector<DeviceProperties> devices;
  std::vector<Context> contexts;
  std::vector<Stream> streams;
  std::vector<HostEvent> host_events;  ///< ordered by thread, start, then longest first
  std::vector<OperatorDetail> operators;
  std::vector<DeviceEvent> device_events;  ///< ordered by start
  std::vector<KernelLaunch> launches;
  std::vector<Transfer> transfers;
  std::vector<Synchronization> synchronizations;  ///< ordered by start
  std::vector<EventRecord> event_records;
  std::vector<ThreadSync> thread_syncs;  ///< ordered by start
  std::vector<GraphNode> graph_nodes;
  std::vector<GraphEdge> graph_edges;
  std::vector<ModelStep> model_steps;          ///< in the order in which they run
  std::vector<Allocation> allocations;         ///< ordered by time
  std::vector<CounterSample> counter_samples;  ///< ordered by time
  std::map<StringId, std::string> counter_units;
  std::vector<ThreadUsage> thread_usages;    ///< in no order
  std::vector<KernelMetric> kernel_metrics;  ///< by process and launch
  std::vector<Doubt> doubts;

  const std::string& text(StringId id) const { return strings[id]; }
  /// The index of the thread; a new thread is added.
  int32_t thread_index(int64_t process, int64_t id);
  /// Counts one more doubt, in the row with the same severity, subject and text.
  void doubt(Severity severity, const std::string& about, const std::string& text, int64_t count = 1);
  const DeviceProperties* find_device(int32_t id) const;
};

struct Span {
  Time start = 0;
  Time end = 0;
};

/// The span from the first start to the last end of all host and device events and of threads' waits for each
/// other; zeros if there are none.
Span extent(const Trace& trace);

/// Sorts rows and makes times valid. An event that ends before it starts, has no time (CUPTI's zero
/// timestamps), or has a time beyond kLatestTime is dropped and counted in `doubts`; a reference to a missing
/// row is removed and counted as well.
void normalize(Trace& trace);

}  // namespace hone::trace
