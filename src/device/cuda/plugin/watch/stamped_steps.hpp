// A program's steps as a graph whose kernels record when they ran.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"
#include "device/cuda/plugin/watch/graph_nodes.hpp"
#include "device/cuda/plugin/watch/stamp_plan.hpp"

namespace hone::device::cuda {

/// Submits a step to the stream; its kernels record their times in the memory of `stamps`.
using StepRunner = std::function<void(size_t step, StampSource* stamps)>;

/// hone's own kernels record their own times; before and after steps of libraries, small kernels read the
/// time. A last node copies all stamps to the host.
class StampedSteps {
 public:
  /// `run_step` is called several times for each step.
  StampedSteps(GpuMemory& memory, const Stream& stream, size_t steps, const StepRunner& run_step);

  void launch(const Stream& stream) const { instance_->launch(stream); }
  const std::vector<RecordedNode>& nodes() const { return nodes_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  const NodeDescription& description(size_t node) const { return chain_[nodes_[node].chain]; }
  /// The stamps of the last launch, which must have ended, for time_of().
  std::span<const KernelStamp> stamps() const {
    return {reinterpret_cast<const KernelStamp*>(collected_->data()), static_cast<size_t>(places_)};
  }

 private:
  std::vector<RecordedNode> nodes_;
  std::vector<Stretch> stretches_;
  std::vector<NodeDescription> chain_;
  int64_t places_ = 0;
  DeviceBytes stamps_;
  std::optional<PinnedBytes> collected_;
  std::unique_ptr<CapturedGraph> instance_;
};

}  // namespace hone::device::cuda
