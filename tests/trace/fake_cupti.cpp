// Stands in for libcupti where there is no GPU: when it is asked to flush, it hands out records of every
// kind, as CUPTI would of a program that launches a graph of two nodes, copies and synchronises.
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <set>

#include "trace/fake_cubin.hpp"

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_CallbackFunc callback = nullptr;
std::set<CUpti_CallbackId> driver_calls;  ///< that the subscriber wants to be told of
bool flushed = false;

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000U + static_cast<uint64_t>(time.tv_nsec);
}

/// The buffer being filled; records are looked for in it by their sizes.
struct Filler {
  uint8_t* buffer = nullptr;
  size_t size = 0;
  size_t used = 0;

  template <class Record>
  Record& add(CUpti_ActivityKind kind) {
    auto* record = reinterpret_cast<Record*>(buffer + used);
    std::memset(static_cast<void*>(record), 0, sizeof(Record));
    record->kind = kind;
    used += sizeof(Record);
    return *record;
  }
};

size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return sizeof(CUpti_ActivityCudaEvent2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_CONTEXT: return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(CUpti_ActivityDevice5);
    default: std::abort();
  }
}

void fill_kernel(Filler& filler, uint64_t start, uint64_t node, const char* name) {
  auto& kernel = filler.add<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = start;
  kernel.end = start + 10000;
  kernel.contextId = 1;
  kernel.streamId = 13;
  kernel.correlationId = 21;
  kernel.gridX = kernel.gridY = 4;
  kernel.gridZ = 1;
  kernel.blockX = 128;
  kernel.blockY = kernel.blockZ = 1;
  kernel.registersPerThread = 40;
  kernel.dynamicSharedMemory = 4096;
  kernel.name = name;
  kernel.graphNodeId = node;
  kernel.graphId = 8;
  kernel.channelID = 3;
  kernel.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
}

void add_call(Filler& filler, uint64_t t, uint32_t correlation) {
  auto& launch = filler.add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  launch.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000;
  launch.start = t;
  launch.end = t + 5000;
  launch.threadId = 77;
  launch.correlationId = correlation;
}

void fill(Filler& filler, uint64_t t) {
  auto& device = filler.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.name = "Fake GPU";
  for (size_t i = 0; i < sizeof device.uuid.bytes; ++i) device.uuid.bytes[i] = static_cast<char>(0xf0 + i);
  device.numMultiprocessors = 132;
  device.numThreadsPerWarp = 32;
  device.maxWarpsPerMultiprocessor = 64;
  auto& context = filler.add<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  context.contextId = 1;
  context.nullStreamId = 7;
  auto& stream = filler.add<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  stream.contextId = 1;
  stream.streamId = 13;
  stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  add_call(filler, t, 21);
  fill_kernel(filler, t + 6000, 101, "_Z4gemmIfEvi");
  fill_kernel(filler, t + 20000, 102, "relu");
  fill_kernel(filler, 0, 102, "lost");
  auto& lost = *reinterpret_cast<CUpti_ActivityKernel10*>(filler.buffer + filler.used -
                                                          sizeof(CUpti_ActivityKernel10));
  lost.end = 0;
  auto& copy = filler.add<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy.bytes = 4096;
  copy.start = t + 1000;
  copy.end = t + 3000;
  copy.streamId = 13;
  copy.correlationId = 20;
  auto& set = filler.add<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  set.bytes = 64;
  set.start = t + 40000;
  set.end = t + 41000;
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  auto& sync = filler.add<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  sync.start = t + 42000;
  sync.end = t + 43000;
  sync.streamId = 13;
  sync.cudaEventId = 5;
  sync.cudaEventSyncId = 50;
  auto& event = filler.add<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  event.eventId = 5;
  event.cudaEventSyncId = 50;
  event.streamId = 7;
  auto& overhead = filler.add<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.threadId = 77;
  overhead.start = t + 100;
  overhead.end = t + 200;
  auto& memory = filler.add<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.timestamp = t + 50000;
  memory.bytes = 1 << 20;
}

template <class T>
T pointer(uintptr_t number) {
  return reinterpret_cast<T>(number);
}

void tell(CUpti_CallbackIdResource id, CUpti_GraphData data) {
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, static_cast<CUpti_CallbackId>(id), &resource);
}

/// The code of the kernels that fill_kernel() makes.
void tell_module() {
  const std::string cubin =
      hone::trace::fake_cubin(90, {{"_Z4gemmIfEvi", {0x981, 0x23c, 0x986}}, {"relu", {0x981, 0x986}}});
  CUpti_ModuleResourceData module{};
  module.pCubin = cubin.data();
  module.cubinSize = cubin.size();
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &module;
  callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE,
           static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_MODULE_LOADED), &resource);
}

/// Two nodes in graph 6, the second after the first; their clones in graph 8.
void tell_graph() {
  for (const uintptr_t node : {11U, 12U}) {
    CUpti_GraphData data{};
    data.graph = pointer<CUgraph>(6);
    data.node = pointer<CUgraphNode>(node);
    tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
  }
  CUpti_GraphData edge{};
  edge.graph = pointer<CUgraph>(6);
  edge.dependency = pointer<CUgraphNode>(11);
  edge.node = pointer<CUgraphNode>(12);
  tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, edge);
  for (const uintptr_t node : {11U, 12U}) {
    CUpti_GraphData data{};
    data.graph = pointer<CUgraph>(8);
    data.node = pointer<CUgraphNode>(node + 90);
    data.originalNode = pointer<CUgraphNode>(node);
    tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
  }
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle*, CUpti_CallbackFunc function, void*,
                                       CUpti_SubscriberParams* params) {
  if (const char* name = std::getenv("FAKE_CUPTI_OTHER"); name != nullptr) {
    std::strncpy(params->oldSubscriberName, name, params->oldSubscriberSize - 1);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  callback = function;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) driver_calls.insert(id);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult, const char** text) {
  *text = "a reason";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t id, const char** name) {
  *name = id == CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000 ? "cudaGraphLaunch_v10000" : "other";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  *id = reinterpret_cast<uintptr_t>(node);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext, uint32_t* id) {
  *id = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc) {
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                                    CUpti_BuffersCallbackCompleteFunc on_complete) {
  request = on_request;
  complete = on_complete;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2) return CUPTI_ERROR_NOT_SUPPORTED;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) {
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  uint8_t* next =
      *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + size_of((*record)->kind);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = 9;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t) {
  // A first buffer, as it comes while the program runs.
  Filler filler;
  size_t records = 0;
  request(&filler.buffer, &filler.size, &records);
  add_call(filler, now(), 20);
  complete(nullptr, 0, filler.buffer, filler.size, filler.used);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t) {
  if (flushed) return CUPTI_SUCCESS;
  flushed = true;
  Filler filler;
  size_t records = 0;
  request(&filler.buffer, &filler.size, &records);
  fill(filler, now());
  complete(nullptr, 0, filler.buffer, filler.size, filler.used);
  return CUPTI_SUCCESS;
}

void fake_cupti_tell(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (callback == nullptr || (domain == CUPTI_CB_DOMAIN_DRIVER_API && driver_calls.count(id) == 0)) return;
  callback(nullptr, domain, id, data);
}

/// The driver's part when the program calls cudaProfilerStart or cudaProfilerStop.
__attribute__((visibility("default"))) void fake_cupti_profiler(bool starts) {
  if (callback == nullptr) return;
  CUpti_CallbackData call{};
  for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    call.callbackSite = site;
    callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API,
             starts ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop,
             &call);
  }
}

/// The driver's part when the program makes a context and builds a graph.
__attribute__((visibility("default"))) void fake_cupti_build_graph() {
  if (callback == nullptr) return;
  CUpti_ResourceData made{};
  callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE,
           static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_CONTEXT_CREATED), &made);
  tell_module();
  tell_graph();
}

}  // extern "C"
