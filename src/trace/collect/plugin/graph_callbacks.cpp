// See graph_callbacks.hpp.
#include "trace/collect/plugin/graph_callbacks.hpp"

#include <array>
#include <vector>

#include "trace/collect/plugin/activity.hpp"
#include "trace/collect/plugin/capture.hpp"
#include "trace/collect/plugin/counters.hpp"
#include "trace/collect/plugin/cupti_library.hpp"
#include "trace/collect/plugin/kernel_metrics.hpp"
#include "trace/collect/plugin/launch_call.hpp"
#include "trace/collect/plugin/ranges.hpp"
#include "trace/collect/plugin/raw_writer.hpp"
#include "trace/collect/plugin/tensor_instructions.hpp"

namespace hone::trace::inject {
namespace {

uint64_t node_id(CUgraphNode node) {
  uint64_t id = 0;
  if (node != nullptr) cupti().cuptiGetGraphNodeId(node, &id);
  return id;
}

uint32_t graph_id(const CUpti_GraphData& data) {
  uint32_t id = 0;
  if (data.graph != nullptr) cupti().cuptiGetGraphId(data.graph, &id);
  return id;
}

void record_node(const CUpti_GraphData& data, bool cloned) {
  raw::GraphNode record;
  record.range = innermost_range();
  record.id = node_id(data.node);
  record.original = cloned ? node_id(data.originalNode) : 0;
  record.graph = graph_id(data);
  Batch batch;
  batch.add(record);
  append(batch);
}

void record_edge(const CUpti_GraphData& data) {
  raw::GraphEdge record;
  record.from = node_id(data.dependency);
  record.to = node_id(data.node);
  Batch batch;
  batch.add(record);
  append(batch);
}

void on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuProfilerStart:
      if (call.callbackSite == CUPTI_API_EXIT) open_window();
      return;
    case CUPTI_DRIVER_TRACE_CBID_cuProfilerStop:
      if (call.callbackSite == CUPTI_API_ENTER) close_window();
      return;
    default: return on_launch(id, call);
  }
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (is_abandoned()) return;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
    return on_driver_call(id, *static_cast<const CUpti_CallbackData*>(data));
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    uint32_t device = 0;
    if (cupti().cuptiGetDeviceId(resource->context, &device) == CUPTI_SUCCESS) watch_device(device);
    return;
  }
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) return on_context_end(resource->context);
  if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    const auto* module = static_cast<const CUpti_ModuleResourceData*>(resource->resourceDescriptor);
    if (module != nullptr && module->pCubin != nullptr) note_module({module->pCubin, module->cubinSize});
    return;
  }
  const auto* graph = static_cast<const CUpti_GraphData*>(resource->resourceDescriptor);
  if (graph == nullptr) return;
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED: return record_node(*graph, false);
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED: return record_node(*graph, true);
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED: return record_edge(*graph);
    default: return;
  }
}

std::vector<CUpti_CallbackId> resource_callbacks() {
  if (are_metrics_wanted()) return {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
  return {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
          CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
          CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED};
}

std::vector<CUpti_CallbackId> driver_callbacks() {
  std::vector<CUpti_CallbackId> ids;
  if (are_metrics_wanted()) ids = launch_calls();
  if (is_bounded_by_profiler_api())
    ids.insert(ids.end(), {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop});
  return ids;
}

}  // namespace

std::string subscribe() {
  std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other{};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "hone";
  params.oldSubscriberName = other.data();
  params.oldSubscriberSize = other.size();
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUptiResult result = cupti().cuptiSubscribe_v2(&subscriber, on_callback, nullptr, &params);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return std::string("another profiler is at work in this process (") + other.data() + ")";
  if (result != CUPTI_SUCCESS) {
    const char* reason = "unknown error";
    cupti().cuptiGetResultString(result, &reason);
    return std::string("CUPTI cannot be used: ") + reason;
  }
  for (const CUpti_CallbackId id : resource_callbacks())
    cupti().cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
  for (const CUpti_CallbackId id : driver_callbacks())
    cupti().cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  return "";
}

}  // namespace hone::trace::inject
