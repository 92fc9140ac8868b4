// Runs of one program whose copies overlap the steps of neighbouring runs.
#pragma once

#include <array>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/execution/io_buffers.hpp"

namespace hone::device::cuda {

/// Copies to the device, steps, and copies back each go to a stream of their own. Two runs in turn have
/// inputs and outputs of their own on the device; activations, weights and the memory on the host are shared.
class OverlappedRuns {
 public:
  struct Lane {
    const DeviceIo* io;
    /// The steps, with this lane's inputs and outputs.
    const CapturedGraph* steps;
  };

  /// All of it must outlive the runs.
  OverlappedRuns(const Stream& steps, const PinnedIo& host, const std::array<Lane, 2>& lanes);

  /// Hands one run over, and returns where its outputs will lie. Waits only while three are under way: one in
  /// each stream.
  const DeviceIo& submit();
  /// Waits for everything submitted.
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
  /// One event for each run that may be under way.
  std::array<Event, 3> done_;
  size_t submissions_ = 0;
};

}  // namespace hone::device::cuda
