// See queue.hpp.
#include "device/cuda/plugin/queue.hpp"

namespace hone::device::cuda {
namespace {

class CudaEvent final : public tensor::Event {
 public:
  explicit CudaEvent(cudaStream_t stream) { check(cudaEventRecord(event_.get(), stream), "an event"); }
  void wait() const override { check(cudaEventSynchronize(event_.get()), "the GPU work"); }
  bool has_passed() const override {
    const cudaError_t state = cudaEventQuery(event_.get());
    if (state == cudaErrorNotReady) return false;
    check(state, "the GPU work");
    return true;
  }
  cudaEvent_t get() const { return event_.get(); }

 private:
  cuda::Event event_;
};

}  // namespace

tensor::Place CudaQueue::place() const { return {tensor::PlaceKind::kCuda, device_.ordinal}; }

void CudaQueue::synchronize() const {
  const DeviceGuard guard(context_);
  check(cudaStreamSynchronize(stream_), "the GPU work");
}

std::shared_ptr<const tensor::Event> CudaQueue::record() const {
  // An event can record only streams of its own GPU.
  const DeviceGuard guard(context_);
  return std::make_shared<CudaEvent>(stream_);
}

void CudaQueue::wait(const tensor::Event& event) const {
  const DeviceGuard guard(context_);
  // The host has no queues, so every event here is a CudaEvent.
  check(cudaStreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).get()), "waiting for an event");
}

bool CudaQueue::is_capturing() const {
  const DeviceGuard guard(context_);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_, &status), "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace hone::device::cuda
