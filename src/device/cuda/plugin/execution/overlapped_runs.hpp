// Runs of one program whose copies overlap the steps of adjacent runs.
#pragma once

#include <array>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/execution/io_buffers.hpp"

namespace hone::device::cuda {

/// Copies to the device, steps, and copies back each use their own stream. Consecutive runs have different
/// inputs and outputs on the device; activations, weights and host memory are shared.
class OverlappedRuns {
 public:
  struct Lane {
    const DeviceIo* io;
    /// The steps with this lane's inputs and outputs.
    const CapturedGraph* steps;
  };

  /// All arguments must outlive the runs.
  OverlappedRuns(const Stream& steps, const PinnedIo& host, const std::array<Lane, 2>& lanes);

  /// Submits one run and returns the location of its outputs. Waits only if three runs are in progress, one
  /// in each stream.
  const DeviceIo& submit();
  /// Waits for everything that was submitted.
  void finish();

 private:
  struct LaneEvents {
    Event arrived;
    Event computed;
    Event returned;
  };

  const Stream& steps_;
  const PinnedIo& host_;
  std::array<Lane, 2> lanes_;
  std::array<LaneEvents, 2> events_;
  Stream to_device_;
  Stream to_host_;
  /// One event for each run that may be in progress.
  std::array<Event, 3> done_;
  size_t submissions_ = 0;
};

}  // namespace hone::device::cuda
