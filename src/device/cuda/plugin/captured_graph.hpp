// Work that is recorded once and launched many times: a CUDA graph and its instance.
#pragma once

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {

/// Nodes that a stream recorded.
class Graph {
 public:
  /// Records what `record` submits to the stream, without running it. Environment error if recording fails.
  template <class F>
  Graph(const Stream& stream, F&& record) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "starting a capture");
    try {
      record();
    } catch (...) {
      (void)cudaStreamEndCapture(stream.get(), &graph_);
      (void)cudaGetLastError();  // otherwise a later successful launch would report this error
      destroy();
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph_), "recording the steps into a graph");
  }
  ~Graph() { destroy(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  cudaGraph_t get() const { return graph_; }

 private:
  void destroy() const {
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }

  cudaGraph_t graph_ = nullptr;
};

/// An instance of a graph, on the GPU that is current when it is made.
class CapturedGraph {
 public:
  CapturedGraph(const Stream& stream, const Graph& graph) {
    check(cudaGraphInstantiate(&executable_, graph.get(), 0), "instantiating the graph");
    const cudaError_t uploaded = cudaGraphUpload(executable_, stream.get());
    if (uploaded != cudaSuccess) (void)cudaGraphExecDestroy(executable_);
    check(uploaded, "uploading the graph");
  }
  ~CapturedGraph() {
    const DeviceGuard guard(context_);
    (void)cudaGraphExecDestroy(executable_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch(const Stream& stream) const { launch(stream.get()); }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "a launch"); }

 private:
  CUcontext context_ = current_context();
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace hone::device::cuda
