// The dependencies of a GPU program: every device operation with its predecessors, and every host thread with
// its waits. The critical path, what-if replays and the causes of idle time all use this graph.
//
// It is built from the guarantees of the CUDA API (streams, events, the default stream, blocking calls,
// graphs) and, if the trace lacks data, from times; inferred edges are marked. Time never runs backward along
// an edge, so the analyses can walk and replay the graph without a search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/clock_repair.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

using trace::Span;
using trace::StringId;
using trace::Time;

enum class OperationKind : uint8_t { kKernel, kCopy, kSet, kHostFunction };

/// An operation of a GPU, or a host function that ran in stream order. Times are on the host's clock
/// (clock_repair).
struct Operation {
  Time enter = 0;
  Time leave = 0;
  StringId name = 0;
  OperationKind kind = OperationKind::kKernel;
  int32_t device = -1;  ///< DeviceProperties::id; -1 for host functions
  int32_t stream = -1;  ///< dense number of its stream; -1 unknown
  int32_t event = -1;   ///< index into Trace::device_events or, for host functions, Trace::host_events
  int32_t call = -1;    ///< index into EventGraph::calls: the call that launched it
  /// Index into EventGraph::nodes: the begin of its launch, or the previous node if the launch seems to begin
  /// after the operation; -1 none.
  int32_t launch = -1;
  bool blocking = false;  ///< the call that launched it waited for it
};

enum class DependencyKind : uint8_t {
  kStreamOrder,    ///< the previous operation in its stream or, for a graph, in the stream of its launch
  kDefaultStream,  ///< the order between the legacy default stream and the streams that it blocks
  kEvent,          ///< cudaStreamWaitEvent
  kGraph,          ///< an edge of a CUDA graph
  kHostFunction,   ///< before or after a host function
  kQueue  ///< false: the program did not request it, but both used one hardware queue, or one filled the
          ///< device
};

/// States that `operation` had to end first. Its index is smaller than that of the waiting operation.
struct Dependency {
  int32_t operation = -1;
  DependencyKind kind = DependencyKind::kStreamOrder;
  bool inferred = false;
  /// The dependent began before this one ended (programmatic launch, collapsed graph nodes): it waited only
  /// for the point inside `operation` at which it began.
  bool overlapping = false;
};

/// A call of the CUDA API or the threads API that the program itself made, not another call.
struct HostCall {
  Time enter = 0;
  Time leave = 0;
  int32_t thread = 0;
  int32_t event = 0;  ///< index into Trace::host_events
  StringId name = 0;  ///< the first of the names that differ only in versions and suffixes (api_name)
};

enum class WaitKind : uint8_t {
  kEvent,         ///< cudaEventSynchronize
  kStream,        ///< cudaStreamSynchronize
  kContext,       ///< cudaDeviceSynchronize
  kSynchronize,   ///< one of the above; the trace does not say which, so it is inferred
  kPoll,          ///< cudaEventQuery or cudaStreamQuery called until it succeeds
  kBlockingCopy,  ///< cudaMemcpy and others that return when their own operation has ended
  kImplicit,      ///< cudaFree and others for which the times show that they waited for all work
  kQueueFull,     ///< a launch that found no room in the launch queue
  kThread,        ///< pthread_join, pthread_cond_wait and others that wait for another thread
  kLock           ///< a mutex that another thread held
};

/// A thread waits from `begin` to `end` for the last of its causes, or for an action of another thread. If
/// that happened before the call, end == begin.
struct HostWait {
  Time begin = 0;
  Time end = 0;
  int32_t call = -1;  ///< index into EventGraph::calls
  WaitKind kind = WaitKind::kStream;
  bool inferred = false;
  int32_t first_cause = 0;  ///< range of EventGraph::causes
  int32_t cause_count = 0;
  int32_t source =
      -1;  ///< index into EventGraph::nodes: the point at which another thread ended the wait; -1 none did
};

/// A point of a host thread at which an edge begins or ends: first event, begin of a launch, begin and end of
/// a wait, an action that another thread waited for, last event. The host's code runs between two nodes of a
/// thread.
struct HostNode {
  Time time = 0;
  /// The wait that ends here. It begins at the previous node, or before the nodes at which the waiting call
  /// woke other threads.
  int32_t wait = -1;
};

/// Half-open range of indices.
struct Range {
  int32_t begin = 0;
  int32_t end = 0;
};

/// `name` is the innermost range or operator from `start` to the start of the next row of the thread; 0 none.
struct RangeStart {
  Time start = 0;
  StringId name = 0;
};

struct HostThread {
  Range nodes;      ///< of EventGraph::nodes; empty for threads that only belong to the profiler or to host
                    ///< functions
  Range calls;      ///< of EventGraph::calls
  Range ranges;     ///< of EventGraph::range_starts
  Range overheads;  ///< of EventGraph::overheads
  /// Index into EventGraph::nodes: the begin of the call that created the thread; -1 if it is unknown.
  int32_t creator = -1;
  int32_t creation = -1;  ///< index into EventGraph::calls: the call that created it; -1 none or unknown
};

struct EventGraph {
  const trace::Trace* trace = nullptr;
  ClockRepair clock;
  /// From the program's first event to its last, on the host's clock, without the profiler's own work.
  Span window;
  std::vector<Operation> operations;  ///< ordered by enter, then leave
  std::vector<Dependency> dependencies;
  std::vector<int32_t> first_dependency;  ///< for every operation, and one more
  std::vector<HostThread> threads;        ///< in the order of Trace::threads
  std::vector<HostNode> nodes;            ///< grouped by thread, in order of time
  std::vector<int32_t> node_thread;
  std::vector<HostCall> calls;  ///< grouped by thread, in order of time, without overlaps
  std::vector<HostWait> waits;  ///< ordered by call
  std::vector<int32_t> causes;  ///< of waits: indices into operations
  std::vector<RangeStart> range_starts;
  std::vector<Span> overheads;  ///< of the profiler itself, per thread; they do not overlap
  /// Missing, contradictory and inferred facts, with counts.
  std::vector<trace::Doubt> doubts;

  std::span<const Dependency> dependencies_of(int32_t operation) const;
  std::span<const int32_t> causes_of(const HostWait& wait) const;
  StringId call_name(int32_t call) const;
  /// For every node: true if it must come after an action of another thread at the same time. Nodes of equal
  /// time are ordered by this, then by index.
  std::vector<bool> nodes_after_others() const;
};

/// O(n log n). The graph refers to the trace, which must be normalized and must outlive it.
EventGraph build_event_graph(const trace::Trace& trace);

}  // namespace hone::analysis
