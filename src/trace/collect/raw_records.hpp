// The records that the injected library writes and the program reads. The file consists of chunks; each is a
// length and that many bytes of records. A chunk is written by one call, so a process that is killed leaves a
// file in which at most the last chunk is incomplete. Records are plain little-endian structs; a reader skips
// types and trailing fields that it does not know. libhone-threads.so writes into a file that was enlarged in
// advance: zeros at the place where a chunk or a record should begin mean that the file or the chunk ends
// there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hone::trace::raw {

/// First bytes of a file.
constexpr std::array<char, 8> kMagic = {'h', 'o', 'n', 'e', 'r', 'a', 'w', '1'};

struct ChunkHeader {
  uint32_t magic = kChunkMagic;
  uint32_t bytes = 0;
  static constexpr uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
};

enum class Type : uint16_t {
  kText = 1,
  kProcess,
  kThreadName,
  kApi,
  kKernel,
  kCopy,
  kSet,
  kSync,
  kEventRecord,
  kOverhead,
  kRange,
  kGraphNode,
  kGraphEdge,
  kContext,
  kStream,
  kDevice,
  kMemory,
  kLoss,
  kWindow,
  kCounter,
  kThreadCall,
  kKernelMetric,
  kEnd
};

/// The size includes the header.
struct Header {
  Type type;
  uint16_t bytes;
};

/// A text, written before its first use; the characters follow the struct. Longer texts are cut.
struct Text {
  Header header{Type::kText, sizeof(Text)};
  uint32_t id = 0;
  static constexpr size_t kMaxLength = 60000;
};

struct Process {
  Header header{Type::kProcess, sizeof(Process)};
  uint32_t process = 0;
  uint32_t name = 0;
  uint32_t cupti_version = 0;
  uint64_t clock_ns = 0;       ///< time by the clock of the records
  uint64_t utc_ns = 0;         ///< at the same moment
  uint64_t announces_end = 0;  ///< 1: an End record follows if the process ends normally
};

/// The last record of a process that ran its exit handlers.
struct End {
  Header header{Type::kEnd, sizeof(End)};
};

struct ThreadName {
  Header header{Type::kThreadName, sizeof(ThreadName)};
  uint32_t thread = 0;
  uint32_t name = 0;
};

struct Api {
  Header header{Type::kApi, sizeof(Api)};
  uint32_t name = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t thread = 0;
  uint32_t correlation = 0;
  uint32_t result = 0;
  uint32_t driver = 0;  ///< 1 driver API, 0 runtime API
};

/// States whether a kernel's code holds instructions for Tensor Cores.
enum class TensorUse : uint32_t { kUnknown, kNo, kYes };

struct Kernel {
  Header header{Type::kKernel, sizeof(Kernel)};
  uint32_t name = 0;  ///< mangled
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t channel = 0;
  uint32_t channel_type = 0;
  std::array<int32_t, 3> grid{};
  std::array<int32_t, 3> block{};
  std::array<uint32_t, 3> cluster{};
  uint32_t registers_per_thread = 0;
  int32_t static_shared = 0;
  int32_t dynamic_shared = 0;
  uint32_t local_per_thread = 0;
  TensorUse tensor_use = TensorUse::kUnknown;
};

struct Copy {
  Header header{Type::kCopy, sizeof(Copy)};
  uint8_t copy_kind = 0;    ///< CUpti_ActivityMemcpyKind
  uint8_t source_kind = 0;  ///< CUpti_ActivityMemoryKind
  uint8_t destination_kind = 0;
  uint8_t asynchronous = 0;
  uint64_t bytes = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t channel = 0;
  uint32_t channel_type = 0;
  uint32_t unused = 0;
};

struct Set {
  Header header{Type::kSet, sizeof(Set)};
  uint32_t memory_kind = 0;
  uint64_t bytes = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t channel = 0;
  uint32_t channel_type = 0;
  uint32_t asynchronous = 0;
};

struct Sync {
  Header header{Type::kSync, sizeof(Sync)};
  uint32_t sync_type = 0;  ///< CUpti_ActivitySynchronizationType
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t correlation = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t event = 0;
  uint64_t event_sync = 0;
};

struct EventRecord {
  Header header{Type::kEventRecord, sizeof(EventRecord)};
  uint32_t event = 0;
  uint64_t event_sync = 0;
  uint64_t completed = 0;
  uint32_t correlation = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t device = 0;
};

struct Overhead {
  Header header{Type::kOverhead, sizeof(Overhead)};
  uint32_t kind = 0;  ///< CUpti_ActivityOverheadKind
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t thread = 0;
  uint32_t correlation = 0;
};

struct Range {
  Header header{Type::kRange, sizeof(Range)};
  uint32_t name = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t thread = 0;
  uint32_t nested = 0;  ///< 1 push and pop, 0 start and end
};

struct GraphNode {
  Header header{Type::kGraphNode, sizeof(GraphNode)};
  uint32_t range = 0;  ///< innermost range of the creating thread
  uint64_t id = 0;
  uint64_t original = 0;  ///< 0 when it is no clone
  uint32_t graph = 0;
  uint32_t unused = 0;
};

struct GraphEdge {
  Header header{Type::kGraphEdge, sizeof(GraphEdge)};
  uint32_t unused = 0;
  uint64_t from = 0;
  uint64_t to = 0;
};

struct Context {
  Header header{Type::kContext, sizeof(Context)};
  uint32_t id = 0;
  uint32_t device = 0;
  uint32_t null_stream = 0;
};

struct Stream {
  Header header{Type::kStream, sizeof(Stream)};
  uint32_t context = 0;
  uint32_t id = 0;
  uint32_t flag = 0;  ///< CUpti_ActivityStreamFlag
  int32_t priority = 0;
};

struct Device {
  Header header{Type::kDevice, sizeof(Device)};
  uint32_t id = 0;
  uint64_t memory_bytes = 0;
  uint32_t name = 0;
  uint32_t compute_major = 0;
  uint32_t compute_minor = 0;
  uint32_t multiprocessors = 0;
  uint32_t warp_size = 0;
  uint32_t warps_per_multiprocessor = 0;
  uint32_t registers_per_multiprocessor = 0;
  uint32_t shared_per_multiprocessor = 0;
  uint32_t blocks_per_multiprocessor = 0;
  uint32_t uuid = 0;  ///< text, as NVML writes it; 0 in files of the first version
};

struct Memory {
  Header header{Type::kMemory, sizeof(Memory)};
  uint32_t operation = 0;  ///< CUpti_ActivityMemoryOperationType
  uint64_t time = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t memory_kind = 0;  ///< CUpti_ActivityMemoryKind
  uint32_t device = 0;
  uint32_t correlation = 0;
  uint32_t unused = 0;
};

/// A number of records that the library could not write.
struct Loss {
  Header header{Type::kLoss, sizeof(Loss)};
  uint32_t about = 0;  ///< text
  uint32_t text = 0;
  uint32_t severity = 0;  ///< trace::Severity
  int64_t count = 0;
};

/// Begin or end of a window in which everything is recorded; outside of windows only a part is. In a file
/// without windows, everything was recorded.
struct Window {
  Header header{Type::kWindow, sizeof(Window)};
  uint32_t opens = 0;  ///< 1 opens, 0 closes
  uint64_t time = 0;
};

/// One value of a hardware counter.
struct Counter {
  Header header{Type::kCounter, sizeof(Counter)};
  uint32_t name = 0;
  uint64_t time = 0;  ///< end of the sampled interval
  double value = 0;
  uint32_t device = 0;
  uint32_t unit = 0;  ///< text
};

/// A metric of one launch of a kernel.
struct KernelMetric {
  Header header{Type::kKernelMetric, sizeof(KernelMetric)};
  uint32_t kernel = 0;  ///< mangled
  uint64_t launch = 0;  ///< index among the measured launches, from 0
  double value = 0;
  uint32_t metric = 0;  ///< text
  uint32_t range = 0;   ///< innermost range of the launching thread
  uint32_t device = 0;
  uint32_t unused = 0;
};

enum class ThreadFunction : uint32_t {
  kStart,  ///< a thread began
  kExit,   ///< it ended
  kCreate,
  kJoin,
  kMutexLock,
  kMutexTimedLock,
  kMutexClockLock,
  kConditionWait,
  kConditionTimedWait,
  kConditionClockWait,
  kConditionSignal,
  kConditionBroadcast,
  kSemaphoreWait,
  kSemaphoreTimedWait,
  kSemaphoreClockWait,
  kSemaphorePost
};

/// A call that blocked, or one that may have let another thread continue; calls of the second kind take no
/// time.
struct ThreadCall {
  Header header{Type::kThreadCall, sizeof(ThreadCall)};
  ThreadFunction function = ThreadFunction::kStart;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t object = 0;  ///< pthread_t of the thread that was created, begun, ended or joined; else an address
  uint32_t thread = 0;
  int32_t result = 0;  ///< 0, or an error number of errno
  /// For mutexes: the last unlock by another thread before the lock returned; 0 if none was seen.
  uint64_t unlocked = 0;
  uint32_t unlocked_by = 0;  ///< thread
  uint32_t unused = 0;
};

}  // namespace hone::trace::raw
