// Work recorded once and launched many times: an instantiated CUDA graph.
#pragma once

#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {

class CapturedGraph {
 public:
  /// Records what `record` hands to the stream; nothing of it runs. Environment error when it cannot be
  /// recorded.
  template <class F>
  CapturedGraph(const Stream& stream, F&& record) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "starting a capture");
    cudaGraph_t graph = nullptr;
    try {
      record();
    } catch (...) {
      (void)cudaStreamEndCapture(stream.get(), &graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph), "recording the steps into a graph");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(status, "instantiating the graph");
    const cudaError_t uploaded = cudaGraphUpload(executable_, stream.get());
    if (uploaded != cudaSuccess) (void)cudaGraphExecDestroy(executable_);
    check(uploaded, "uploading the graph");
  }
  ~CapturedGraph() { (void)cudaGraphExecDestroy(executable_); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch(const Stream& stream) const { check(cudaGraphLaunch(executable_, stream.get()), "a launch"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace hone::device::cuda
