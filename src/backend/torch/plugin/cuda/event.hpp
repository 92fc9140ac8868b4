// An event of the CUDA runtime with timing.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace hone::backend::aten {

/// An event on the current device.
class Event {
 public:
  Event() { C10_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Records after the work of the current stream. In a capture the event becomes part of the graph, and
  /// every launch records it.
  void record() const {
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &capture));
    const bool captured = capture != cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaEventRecordWithFlags(event_, stream,
                                            captured ? cudaEventRecordExternal : cudaEventRecordDefault));
  }
  /// Waits for the work before it; returns at once if it was never recorded.
  void synchronize() const { C10_CUDA_CHECK(cudaEventSynchronize(event_)); }

  /// Both events must have completed.
  static double milliseconds_between(const Event& begin, const Event& end) {
    float milliseconds = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.event_, end.event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace hone::backend::aten
