// See bound_runs.hpp.
#include "device/cuda/plugin/execution/bound_runs.hpp"

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/queue.hpp"

namespace hone::device::cuda {
namespace {

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "asking the stream whether it is captured");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

void StreamOrder::begin(cudaStream_t stream) {
  if (stream == latest_) return;
  if (latest_ == own_.get()) check(cudaEventRecord(ended_.get(), latest_), "an event");
  check(cudaStreamWaitEvent(stream, ended_.get()), "waiting for an event");
  latest_ = stream;
}

void StreamOrder::end(cudaStream_t stream) {
  if (stream != own_.get()) check(cudaEventRecord(ended_.get(), stream), "an event");
}

void StreamOrder::wait() const {
  (void)(latest_ == own_.get() ? cudaStreamSynchronize(latest_) : cudaEventSynchronize(ended_.get()));
}

CudaBoundRuns::CudaBoundRuns(ProgramSteps& steps, StreamOrder& order, const Stream& stream,
                             engine::IoAddresses io, std::vector<engine::InputCopy> copies)
    : steps_(steps),
      order_(order),
      stream_(stream),
      copies_(std::move(copies)),
      bound_(steps.program(), steps.memory(), std::move(io)) {
  if (steps.host_steps() > 0) return;
  // Loads the kernels of the copies, which is forbidden during a capture. The copies write only to the
  // engine's own memory.
  copy_inputs(stream.get());
  stream.synchronize();
  graph_ = std::make_unique<CapturedGraph>(stream, Graph(stream, [this] { hand_over(stream_.get()); }));
}

void CudaBoundRuns::run(const tensor::Queue* queue) {
  const DeviceGuard guard(steps_.gpu().context());
  const cudaStream_t stream =
      queue == nullptr ? stream_.get() : static_cast<const CudaQueue&>(*queue).stream();
  if (is_capturing(stream)) {
    // The caller's graph gets the kernels themselves, because it may run after this object is destroyed.
    if (graph_ == nullptr)
      fail_usage("a run cannot be captured in a CUDA graph where the host computes {} of its {} steps",
                 steps_.host_steps(), bound_.steps.size());
    return hand_over(stream);
  }
  if (watch_ != nullptr) {
    order_.begin(stream_.get());
    watch_->launch_steps();
    return watch_->synchronize();
  }
  order_.begin(stream);
  if (graph_ != nullptr) {
    graph_->launch(stream);
  } else {
    run_stretches(stream);
  }
  order_.end(stream);
  if (queue == nullptr) stream_.synchronize();
}

std::unique_ptr<engine::DeviceWatch> CudaBoundRuns::watch() {
  if (graph_ == nullptr || !copies_.empty()) return nullptr;
  const DeviceGuard guard(steps_.gpu().context());
  order_.begin(stream_.get());
  stream_.synchronize();
  const auto run_step = [this](size_t step, StampSource* stamps) {
    steps_.run_step(step, bound_, stream_.get(), stamps);
  };
  auto watch =
      watch_steps(steps_.gpu(), stream_, steps_.program().steps(), run_step, [this] { watch_ = nullptr; });
  watch_ = watch.get();
  return watch;
}

void CudaBoundRuns::hand_over(cudaStream_t stream) {
  copy_inputs(stream);
  steps_.run(bound_, stream);
}

void CudaBoundRuns::run_stretches(cudaStream_t stream) {
  if (!std::exchange(has_run_, true)) return hand_over(stream);
  if (step_graphs_ == nullptr) step_graphs_ = std::make_unique<StepGraphs>(steps_, bound_, stream_);
  copy_inputs(stream);
  step_graphs_->launch(stream);
}

void CudaBoundRuns::copy_inputs(cudaStream_t stream) const {
  const CudaQueue queue(stream, steps_.gpu().properties());
  for (const engine::InputCopy& copy : copies_)
    copy.kernel->run({.inputs = {&copy.from, 1}, .outputs = {&copy.to, 1}, .queue = &queue});
}

}  // namespace hone::device::cuda
