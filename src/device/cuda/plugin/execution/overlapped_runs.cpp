// See overlapped_runs.hpp.
#include "device/cuda/plugin/execution/overlapped_runs.hpp"

namespace hone::device::cuda {
namespace {

void record(const Event& event, const Stream& stream) {
  check(cudaEventRecord(event.get(), stream.get()), "an event");
}

/// Later work of the stream waits for the event, if it was ever recorded.
void wait(const Stream& stream, const Event& event) {
  check(cudaStreamWaitEvent(stream.get(), event.get()), "an event");
}

auto copier(const Stream& stream, cudaMemcpyKind kind) {
  return [&stream, kind](void* to, const void* from, size_t bytes) {
    if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "a copy");
  };
}

}  // namespace

OverlappedRuns::OverlappedRuns(const Stream& steps, const PinnedIo& host, const std::array<Lane, 2>& lanes)
    : steps_(steps), host_(host), lanes_(lanes) {}

const DeviceIo& OverlappedRuns::submit() {
  const Event& done = done_[submissions_ % done_.size()];
  if (submissions_ >= done_.size()) check(cudaEventSynchronize(done.get()), "the GPU work");
  const size_t index = submissions_ % lanes_.size();
  const Lane& lane = lanes_[index];
  const LaneEvents& events = events_[index];

  wait(to_device_, events.computed);  // by the lane's previous run, which read the inputs
  copy_inputs(host_, *lane.io, copier(to_device_, cudaMemcpyHostToDevice));
  record(events.arrived, to_device_);

  wait(steps_, events.arrived);
  wait(steps_, events.returned);  // by the lane's previous run, whose outputs are overwritten
  lane.steps->launch(steps_);
  record(events.computed, steps_);

  wait(to_host_, events.computed);
  copy_outputs(*lane.io, host_, copier(to_host_, cudaMemcpyDeviceToHost));
  record(events.returned, to_host_);
  record(done, to_host_);
  ++submissions_;
  return *lane.io;
}

void OverlappedRuns::finish() {
  to_device_.synchronize();
  steps_.synchronize();
  to_host_.synchronize();
  submissions_ = 0;
}

}  // namespace hone::device::cuda
