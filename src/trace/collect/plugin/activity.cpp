// See activity.hpp. Record layouts: cupti_activity.h of CUDA 13.0. Later versions only append fields.
#include "trace/collect/plugin/activity.hpp"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "trace/collect/plugin/capture.hpp"
#include "trace/collect/plugin/clock.hpp"
#include "trace/collect/plugin/cupti_library.hpp"
#include "trace/collect/plugin/ranges.hpp"
#include "trace/collect/plugin/raw_writer.hpp"
#include "trace/collect/plugin/tensor_instructions.hpp"

namespace hone::trace::inject {
namespace {

constexpr uint32_t kLoss = 2;
constexpr size_t kBufferBytes = size_t{1} << 20;

bool started = false;

/// The names of API functions by callback id; each is looked up once.
struct ApiNames {
  std::mutex mutex;
  std::array<std::vector<uint32_t>, 2> ids;
};

uint32_t api_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  static auto* names = new ApiNames;  // never destroyed: records arrive while the process exits
  std::vector<uint32_t>& ids = names->ids[domain == CUPTI_CB_DOMAIN_DRIVER_API ? 1 : 0];
  {
    const std::lock_guard lock(names->mutex);
    if (id < ids.size() && ids[id] != 0) return ids[id];
  }
  const char* name = nullptr;  // asked without our lock: CUPTI has its own
  const bool known_name =
      cupti().cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name != nullptr && *name != '\0';
  const uint32_t text = text_id(known_name ? name : "API call " + std::to_string(id));
  const std::lock_guard lock(names->mutex);
  if (id >= ids.size()) ids.resize(id + 1, 0);
  ids[id] = text;
  return text;
}

void add_api(const CUpti_ActivityAPI& from, bool driver, Batch& batch) {
  if (!is_captured(from.start, from.end)) return;
  raw::Api to;
  to.name = api_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, from.cbid);
  to.start = from.start;
  to.end = from.end;
  to.thread = from.threadId;
  to.correlation = from.correlationId;
  to.result = from.returnValue;
  to.driver = driver ? 1 : 0;
  batch.add(to);
}

template <class To, class From>
void fill_place(To& to, const From& from) {
  to.start = from.start;
  to.end = from.end;
  to.device = from.deviceId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.correlation = from.correlationId;
  to.graph_node = from.graphNodeId;
  to.graph = from.graphId;
  to.channel = from.channelID;
  to.channel_type = static_cast<uint32_t>(from.channelType);
}

void add_kernel(const CUpti_ActivityKernel10& from, Batch& batch) {
  if (!may_be_captured(from.start, from.end)) return;
  const char* name = from.name == nullptr ? "unknown" : from.name;
  raw::Kernel to;
  to.name = text_id(name);
  if (!is_kernel_wanted(name, to.name)) return;
  fill_place(to, from);
  to.grid = {from.gridX, from.gridY, from.gridZ};
  to.block = {from.blockX, from.blockY, from.blockZ};
  to.cluster = {from.clusterX, from.clusterY, from.clusterZ};
  to.registers_per_thread = from.registersPerThread;
  to.static_shared = from.staticSharedMemory;
  to.dynamic_shared = from.dynamicSharedMemory;
  to.local_per_thread = from.localMemoryPerThread;
  to.tensor_use = tensor_use(name, to.name);
  batch.add(to);
}

/// Adds a copy on one device or between two devices; the record of the second kind has the same fields up to
/// here.
template <class From>
void add_copy(const From& from, Batch& batch) {
  if (!may_be_captured(from.start, from.end)) return;
  raw::Copy to;
  fill_place(to, from);
  to.bytes = from.bytes;
  to.copy_kind = from.copyKind;
  to.source_kind = from.srcKind;
  to.destination_kind = from.dstKind;
  to.asynchronous = (from.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1 : 0;
  batch.add(to);
}

void add_set(const CUpti_ActivityMemset4& from, Batch& batch) {
  if (!may_be_captured(from.start, from.end)) return;
  raw::Set to;
  fill_place(to, from);
  to.bytes = from.bytes;
  to.memory_kind = from.memoryKind;
  to.asynchronous = (from.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0 ? 1 : 0;
  batch.add(to);
}

void add_sync(const CUpti_ActivitySynchronization2& from, Batch& batch) {
  if (!may_be_captured(from.start, from.end)) return;
  raw::Sync to;
  to.sync_type = static_cast<uint32_t>(from.type);
  to.start = from.start;
  to.end = from.end;
  to.correlation = from.correlationId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.event = from.cudaEventId;
  to.event_sync = from.cudaEventSyncId;
  batch.add(to);
}

void add_event_record(const CUpti_ActivityCudaEvent2& from, Batch& batch) {
  // Without a time on the device, it is unknown whether the record is wanted, so it is kept.
  if (from.deviceTimestamp != 0 && !may_be_captured(from.deviceTimestamp, from.deviceTimestamp)) return;
  raw::EventRecord to;
  to.event = from.eventId;
  to.event_sync = from.cudaEventSyncId;
  to.completed = from.deviceTimestamp;
  to.correlation = from.correlationId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.device = from.deviceId;
  batch.add(to);
}

void add_overhead(const CUpti_ActivityOverhead3& from, Batch& batch) {
  if (!is_captured(from.start, from.end)) return;
  raw::Overhead to;
  to.kind = static_cast<uint32_t>(from.overheadKind);
  to.start = from.start;
  to.end = from.end;
  to.correlation = from.correlationId;
  if (from.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) to.thread = from.objectId.pt.threadId;
  batch.add(to);
}

void add_memory(const CUpti_ActivityMemory4& from, Batch& batch) {
  if (!is_captured(from.timestamp, from.timestamp)) return;
  raw::Memory to;
  to.operation = static_cast<uint32_t>(from.memoryOperationType);
  to.time = from.timestamp;
  to.address = from.address;
  to.bytes = from.bytes;
  to.memory_kind = static_cast<uint32_t>(from.memoryKind);
  to.device = from.deviceId;
  to.correlation = from.correlationId;
  batch.add(to);
}

void add_context(const CUpti_ActivityContext3& from, Batch& batch) {
  raw::Context to;
  to.id = from.contextId;
  to.device = from.deviceId;
  to.null_stream = from.nullStreamId;
  batch.add(to);
}

void add_stream(const CUpti_ActivityStream& from, Batch& batch) {
  raw::Stream to;
  to.context = from.contextId;
  to.id = from.streamId;
  to.flag = static_cast<uint32_t>(from.flag);
  to.priority = static_cast<int32_t>(from.priority);
  batch.add(to);
}

/// "GPU-01234567-89ab-cdef-0123-456789abcdef".
std::string uuid_text(const CUuuid& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const auto byte = static_cast<uint8_t>(uuid.bytes[i]);
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

void add_device(const CUpti_ActivityDevice5& from, Batch& batch) {
  raw::Device to;
  to.id = from.id;
  to.memory_bytes = from.globalMemorySize;
  to.name = text_id(from.name == nullptr ? "" : from.name);
  to.compute_major = from.computeCapabilityMajor;
  to.compute_minor = from.computeCapabilityMinor;
  to.multiprocessors = from.numMultiprocessors;
  to.warp_size = from.numThreadsPerWarp;
  to.warps_per_multiprocessor = from.maxWarpsPerMultiprocessor;
  to.registers_per_multiprocessor = from.maxRegistersPerMultiprocessor;
  to.shared_per_multiprocessor = from.maxSharedMemoryPerMultiprocessor;
  to.blocks_per_multiprocessor = from.maxBlocksPerMultiprocessor;
  to.uuid = text_id(uuid_text(from.uuid));
  batch.add(to);
}

void add(const CUpti_Activity* record, Batch& batch) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_api(*reinterpret_cast<const CUpti_ActivityAPI*>(record),
                     record->kind == CUPTI_ACTIVITY_KIND_DRIVER, batch);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(*reinterpret_cast<const CUpti_ActivityKernel10*>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(*reinterpret_cast<const CUpti_ActivityMemcpy6*>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_copy(*reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(*reinterpret_cast<const CUpti_ActivityMemset4*>(record), batch);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_sync(*reinterpret_cast<const CUpti_ActivitySynchronization2*>(record), batch);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return add_event_record(*reinterpret_cast<const CUpti_ActivityCudaEvent2*>(record), batch);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(*reinterpret_cast<const CUpti_ActivityOverhead3*>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return add_memory(*reinterpret_cast<const CUpti_ActivityMemory4*>(record), batch);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return add_context(*reinterpret_cast<const CUpti_ActivityContext3*>(record), batch);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return add_stream(*reinterpret_cast<const CUpti_ActivityStream*>(record), batch);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return add_device(*reinterpret_cast<const CUpti_ActivityDevice5*>(record), batch);
    default: return;
  }
}

/// Buffers that CUPTI has returned and that can be used again.
struct FreeBuffers {
  std::mutex mutex;
  std::vector<uint8_t*> buffers;
};

/// Never destroyed, like everything that records need: CUPTI delivers its last records while the process
/// exits.
FreeBuffers& free_buffers() {
  static auto* instance = new FreeBuffers;
  return *instance;
}

uint8_t* take_buffer() {
  FreeBuffers& free = free_buffers();
  {
    const std::lock_guard lock(free.mutex);
    if (!free.buffers.empty()) {
      uint8_t* buffer = free.buffers.back();
      free.buffers.pop_back();
      return buffer;
    }
  }
  void* made = mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return made == MAP_FAILED ? nullptr : static_cast<uint8_t*>(made);
}

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = is_abandoned() ? nullptr : take_buffer();
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI complete_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  Batch batch;
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti().cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    add(record, batch);
  append(batch);
  flush_ranges();
  // Cleared here, as declared to CUPTI below, so that CUPTI does not clear it in the thread of the program.
  std::memset(buffer, 0, kBufferBytes);
  FreeBuffers& free = free_buffers();
  const std::lock_guard lock(free.mutex);
  free.buffers.push_back(buffer);
}

/// Disables calls that programs make very often and that do nothing on the GPU.
void silence_chatter() {
  for (const CUpti_CallbackId id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
        CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000})
    cupti().cuptiActivityEnableRuntimeApi(id, 0);
  for (const CUpti_CallbackId id :
       {CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes,
        CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
        CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent, CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
        CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2})
    cupti().cuptiActivityEnableDriverApi(id, 0);
}

}  // namespace

std::string start_activities(bool driver_api) {
  const Cupti& c = cupti();
  c.cuptiActivityRegisterTimestampCallback([]() -> uint64_t { return clock_now(); });
  c.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  c.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  c.cuptiActivityEnableCudaEventDeviceTimestamps(1);
  if (const CUptiResult result = c.cuptiActivityRegisterCallbacks(request_buffer, complete_buffer);
      result != CUPTI_SUCCESS)
    return "CUPTI takes no callbacks for its buffers";
  started = true;
  std::vector kinds = {CUPTI_ACTIVITY_KIND_DEVICE,   CUPTI_ACTIVITY_KIND_CONTEXT,
                       CUPTI_ACTIVITY_KIND_STREAM,   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                       CUPTI_ACTIVITY_KIND_MEMCPY,   CUPTI_ACTIVITY_KIND_MEMCPY2,
                       CUPTI_ACTIVITY_KIND_MEMSET,   CUPTI_ACTIVITY_KIND_RUNTIME,
                       CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                       CUPTI_ACTIVITY_KIND_MEMORY2,  CUPTI_ACTIVITY_KIND_CUDA_EVENT};
  if (driver_api) kinds.push_back(CUPTI_ACTIVITY_KIND_DRIVER);
  for (const CUpti_ActivityKind kind : kinds) {
    const CUptiResult result = c.cuptiActivityEnable(kind);
    if (result == CUPTI_SUCCESS) continue;
    const char* reason = "unknown error";
    c.cuptiGetResultString(result, &reason);
    report_loss(kLoss, "collector",
                "activity kind " + std::to_string(kind) + " is not recorded (" + reason + ")", 0);
  }
  silence_chatter();
  constexpr uint32_t kFlushMilliseconds = 500;
  c.cuptiActivityFlushPeriod(kFlushMilliseconds);
  return "";
}

void flush_activities() {
  if (!started) return;
  const Cupti& c = cupti();
  c.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  size_t dropped = 0;
  if (c.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped != 0)
    report_loss(kLoss, "collector", "records were dropped by CUPTI, which had no buffer for them",
                static_cast<int64_t>(dropped));
}

}  // namespace hone::trace::inject
