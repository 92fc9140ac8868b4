// Decides which recorded times define when a node of the steps' graph ran. It does not use CUDA, so it is
// tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {

/// A node that a step recorded, in the order in which nodes run.
struct RecordedNode {
  size_t step = 0;
  size_t chain = 0;    ///< its index among all nodes of the recording
  int64_t place = -1;  ///< index of its own stamp; -1 if it does not record its time
  bool early = false;  ///< started before the previous node has ended
};

/// A small kernel that records the time.
enum class Mark : uint8_t {
  kNone,
  kBeside,   ///< on a separate branch, which costs the steps almost nothing
  kBetween,  ///< between the steps, if the following kernels may have occupied the GPU before a branch can
             ///< start
};

/// One of the two times of a stamp.
struct Moment {
  int64_t place = 0;
  bool end = false;
};

/// Adjacent nodes of a step that are timed together. This is either one node that records its own time, or
/// nodes that do not; those are timed from the end of the node before them to the start of the one after.
struct Stretch {
  size_t first = 0;  ///< among the recorded nodes
  size_t count = 0;
  Moment start;
  Moment stop;
};

/// Returns the mark before each step, and as the last entry the one at the end. A mark is needed between
/// adjacent nodes of two steps if neither records its own time, and at a first or last node that does not.
std::vector<Mark> find_marks(const std::vector<RecordedNode>& nodes, size_t steps);

/// `marks` holds the index of the stamp of the mark before each step, and of the one at the end; -1 if there
/// is no mark.
std::vector<Stretch> find_stretches(const std::vector<RecordedNode>& nodes,
                                    const std::vector<int64_t>& marks);

/// Nanoseconds of the GPU's timer.
uint64_t time_of(const Moment& moment, std::span<const KernelStamp> stamps);

/// Microseconds of each of `steps` steps, from the latest end before it to its own end, so that the times add
/// up even if steps overlap. 0 for steps without nodes, and for steps that ended before an earlier one.
std::vector<double> step_times(const std::vector<RecordedNode>& nodes, const std::vector<Stretch>& stretches,
                               std::span<const KernelStamp> stamps, size_t steps);

}  // namespace hone::device::cuda
