// Which stamps show when a node of the steps' graph ran. No CUDA: tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {

/// A node that a step recorded, in the order in which they run.
struct RecordedNode {
  size_t step = 0;
  size_t chain = 0;    ///< its place among all nodes of the recording
  int64_t place = -1;  ///< of its own stamp; -1 when it does not stamp itself
  bool early = false;  ///< let in before the node ahead has ended
};

/// A small kernel that reads the time.
enum class Mark : uint8_t {
  kNone,
  kBeside,   ///< on a branch of its own, which hardly costs the steps anything
  kBetween,  ///< where what follows may have taken all room before a branch gets any
};

/// One of the two times of a stamp.
struct Moment {
  int64_t place = 0;
  bool end = false;
};

/// Neighbouring nodes of a step that are timed together: one that stamps itself, or others, from the end of
/// the node before them to the beginning of the one after.
struct Stretch {
  size_t first = 0;  ///< among the recorded nodes
  size_t count = 0;
  Moment start;
  Moment stop;
};

/// Before which steps the time must be told, the end of the last one included: where nodes of two steps meet
/// that both do not stamp themselves, and at such a first and last node.
std::vector<Mark> find_marks(const std::vector<RecordedNode>& nodes, size_t steps);

/// `marks`: the place of the stamp whose beginning is the time before each step and after the last one; -1
/// where none does.
std::vector<Stretch> find_stretches(const std::vector<RecordedNode>& nodes,
                                    const std::vector<int64_t>& marks);

/// Nanoseconds of the GPU's timer.
uint64_t time_of(const Moment& moment, std::span<const KernelStamp> stamps);

/// Microseconds of each of `steps` steps, from the latest end before it to its own, so that they add up where
/// steps overlap; 0 of steps without nodes, and of steps that had ended before an earlier one.
std::vector<double> step_times(const std::vector<RecordedNode>& nodes, const std::vector<Stretch>& stretches,
                               std::span<const KernelStamp> stamps, size_t steps);

}  // namespace hone::device::cuda
