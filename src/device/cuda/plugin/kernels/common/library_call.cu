// See library_call.hpp.
#include "device/cuda/plugin/kernels/common/library_call.hpp"

#include <vector>

namespace hone::device::cuda {
namespace {

__global__ void wait_for_all() {}

struct Capture {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  /// The nodes on which the next node will depend.
  std::vector<cudaGraphNode_t> ends;
};

cudaError_t read_capture(cudaStream_t stream, Capture& capture) {
  const cudaGraphNode_t* ends = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  const cudaError_t error =
      cudaStreamGetCaptureInfo(stream, &capture.status, nullptr, &capture.graph, &ends, &edges, &count);
  if (error == cudaSuccess && capture.status == cudaStreamCaptureStatusActive)
    capture.ends.assign(ends, ends + count);
  return error;
}

/// Replaces the programmatic edges that leave a node by full dependencies.
cudaError_t complete_edges(cudaGraph_t graph, cudaGraphNode_t from) {
  size_t count = 0;
  cudaError_t error = cudaGraphNodeGetDependentNodes(from, nullptr, nullptr, &count);
  if (error != cudaSuccess || count == 0) return error;
  std::vector<cudaGraphNode_t> nodes(count);
  std::vector<cudaGraphEdgeData> edges(count);
  error = cudaGraphNodeGetDependentNodes(from, nodes.data(), edges.data(), &count);
  for (size_t i = 0; i < count && error == cudaSuccess; ++i) {
    if (edges[i].type != cudaGraphDependencyTypeProgrammatic) continue;
    error = cudaGraphRemoveDependencies(graph, &from, &nodes[i], &edges[i], 1);
    if (error == cudaSuccess) error = cudaGraphAddDependencies(graph, &from, &nodes[i], nullptr, 1);
  }
  return error;
}

}  // namespace

cudaError_t call_library(cudaStream_t stream, const std::function<void()>& call) {
  Capture capture;
  cudaError_t error = read_capture(stream, capture);
  if (error != cudaSuccess) return error;
  if (capture.status == cudaStreamCaptureStatusNone) {
    wait_for_all<<<1, 1, 0, stream>>>();
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;
  }
  call();
  for (const cudaGraphNode_t end : capture.ends) {
    error = complete_edges(capture.graph, end);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace hone::device::cuda
