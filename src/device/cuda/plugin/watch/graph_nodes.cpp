// See graph_nodes.hpp.
#include "device/cuda/plugin/watch/graph_nodes.hpp"

#include <cuda.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"

namespace hone::device::cuda {
namespace {

/// Functions of the driver, with which the plugin is not linked.
struct Driver {
  decltype(&cuGraphKernelNodeGetParams) node_params = nullptr;
  decltype(&cuGraphKernelNodeGetAttribute) node_attribute = nullptr;
  decltype(&cuKernelGetFunction) function_of = nullptr;
  decltype(&cuFuncGetName) name_of = nullptr;
  decltype(&cuFuncGetAttribute) attribute_of = nullptr;
};

const Driver& driver() {
  static const Driver kDriver = [] {
    constexpr unsigned kVersion = 12030;
    Driver found;
    const auto look_up = [](const char* name, auto& function) {
      void* address = nullptr;
      cudaDriverEntryPointQueryResult result{};
      check(cudaGetDriverEntryPointByVersion(name, &address, kVersion, cudaEnableDefault, &result), name);
      if (result != cudaDriverEntryPointSuccess) fail_environment("the NVIDIA driver has no {}", name);
      function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
    };
    look_up("cuGraphKernelNodeGetParams", found.node_params);
    look_up("cuGraphKernelNodeGetAttribute", found.node_attribute);
    look_up("cuKernelGetFunction", found.function_of);
    look_up("cuFuncGetName", found.name_of);
    look_up("cuFuncGetAttribute", found.attribute_of);
    return found;
  }();
  return kDriver;
}

void require(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS)
    fail_environment("the driver did not tell {} of a graph's node (error {})", what,
                     static_cast<int>(result));
}

int attribute(CUfunction function, CUfunction_attribute wanted) {
  int value = 0;
  require(driver().attribute_of(&value, wanted, function), "an attribute");
  return value;
}

void describe_kernel(cudaGraphNode_t node, NodeDescription& to) {
  CUDA_KERNEL_NODE_PARAMS params{};
  require(driver().node_params(node, &params), "the launch");
  CUfunction function = params.func;
  if (function == nullptr) require(driver().function_of(&function, params.kern), "the kernel");
  const char* name = nullptr;
  require(driver().name_of(&name, function), "the kernel's name");
  to.kernel = name;
  to.launch.grid = {static_cast<int32_t>(params.gridDimX), static_cast<int32_t>(params.gridDimY),
                    static_cast<int32_t>(params.gridDimZ)};
  to.launch.block = {static_cast<int32_t>(params.blockDimX), static_cast<int32_t>(params.blockDimY),
                     static_cast<int32_t>(params.blockDimZ)};
  to.launch.registers_per_thread = attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  to.launch.static_shared_bytes = attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  to.launch.local_bytes_per_thread = attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  to.launch.dynamic_shared_bytes = params.sharedMemBytes;
  CUkernelNodeAttrValue value{};
  if (driver().node_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) == CUDA_SUCCESS &&
      value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1)
    to.launch.cluster = {static_cast<int32_t>(value.clusterDim.x), static_cast<int32_t>(value.clusterDim.y),
                         static_cast<int32_t>(value.clusterDim.z)};
}

int64_t copied_bytes(cudaGraphNode_t node) {
  cudaMemcpy3DParms params{};
  check(cudaGraphMemcpyNodeGetParams(node, &params), "a copy of a graph");
  return static_cast<int64_t>(params.extent.width * params.extent.height * params.extent.depth);
}

int64_t filled_bytes(cudaGraphNode_t node) {
  cudaMemsetParams params{};
  check(cudaGraphMemsetNodeGetParams(node, &params), "a fill of a graph");
  return static_cast<int64_t>(params.elementSize * params.width * params.height);
}

struct Predecessor {
  cudaGraphNode_t node = nullptr;
  bool programmatic = false;
};

/// The node before this one; null for the first node.
Predecessor predecessor(cudaGraphNode_t node) {
  size_t count = 0;
  check(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count), "the edges of a graph");
  if (count == 0) return {};
  if (count > 1) fail_internal("a node of the steps' graph follows {} others", count);
  Predecessor result;
  cudaGraphEdgeData edge{};
  check(cudaGraphNodeGetDependencies(node, &result.node, &edge, &count), "the edges of a graph");
  result.programmatic = edge.type == cudaGraphDependencyTypeProgrammatic;
  return result;
}

}  // namespace

std::vector<NodeDescription> describe_chain(const Graph& graph) {
  size_t count = 0;
  check(cudaGraphGetNodes(graph.get(), nullptr, &count), "the nodes of a graph");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) check(cudaGraphGetNodes(graph.get(), nodes.data(), &count), "the nodes of a graph");
  std::map<cudaGraphNode_t, std::pair<cudaGraphNode_t, bool>> next;  // a null key maps to the first node
  for (const cudaGraphNode_t node : nodes) {
    const Predecessor before = predecessor(node);
    next[before.node] = {node, before.programmatic};
  }
  std::vector<NodeDescription> chain;
  for (auto at = next.find(nullptr); at != next.end() && chain.size() < count;
       at = next.find(at->second.first)) {
    const auto [node, programmatic] = at->second;
    NodeDescription& description = chain.emplace_back();
    check(cudaGraphNodeGetType(node, &description.type), "the type of a graph's node");
    if (description.type == cudaGraphNodeTypeMemcpy) description.bytes = copied_bytes(node);
    if (description.type == cudaGraphNodeTypeMemset) description.bytes = filled_bytes(node);
    if (description.type != cudaGraphNodeTypeKernel) continue;
    describe_kernel(node, description);
    description.launch.programmatic = programmatic;
  }
  if (chain.size() != count) fail_internal("the graph of the steps is no chain");
  return chain;
}

size_t recorded_nodes(const Stream& stream) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  check(cudaStreamGetCaptureInfo(stream.get(), &status, nullptr, &graph), "what a capture holds");
  size_t count = 0;
  if (graph != nullptr) check(cudaGraphGetNodes(graph, nullptr, &count), "what a capture holds");
  return count;
}

base::DeviceDescription describe_device(int ordinal) {
  cudaDeviceProp from{};
  check(cudaGetDeviceProperties(&from, ordinal), "asking the GPU for its properties");
  base::DeviceDescription to;
  to.name = from.name;
  to.ordinal = ordinal;
  to.uuid = "GPU";
  for (size_t i = 0; i < sizeof from.uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) to.uuid += '-';
    to.uuid += fmt::format("{:02x}", static_cast<uint8_t>(from.uuid.bytes[i]));
  }
  to.memory_bytes = static_cast<int64_t>(from.totalGlobalMem);
  to.compute_major = from.major;
  to.compute_minor = from.minor;
  to.multiprocessors = from.multiProcessorCount;
  to.warp_size = from.warpSize;
  to.threads_per_multiprocessor = from.maxThreadsPerMultiProcessor;
  to.registers_per_multiprocessor = from.regsPerMultiprocessor;
  to.shared_bytes_per_multiprocessor = static_cast<int64_t>(from.sharedMemPerMultiprocessor);
  to.blocks_per_multiprocessor = from.maxBlocksPerMultiProcessor;
  return to;
}

}  // namespace hone::device::cuda
