// How many warps of a kernel a multiprocessor can hold, only from the launch: the estimate that PyTorch's
// profiler records as "est. achieved occupancy %", for traces that lack it and for analyses.
#pragma once

#include "trace/trace.hpp"

namespace hone::trace {

/// The blocks of this kernel that fit one multiprocessor at once, after the occupancy calculation of the CUDA
/// C++ Programming Guide: the least of what warps, registers, shared memory and block slots allow.
///
/// Assumed, since traces do not say it: registers go to warps in units of 256, from four parts of the
/// register file (two on compute capability 6.0); shared memory comes in units of 128 bytes (256 before 8.0),
/// of which the driver keeps 1 KiB a block from 8.0 on, and is split from the L1 cache in favour of shared
/// memory; where the block slots are not recorded, they are those of the guide's table for the compute
/// capability. 0 when a block cannot run at all; -1 when the launch or the device is not known well enough.
int resident_blocks(const KernelLaunch& launch, const DeviceProperties& device);

/// Blocks of the grid for each multiprocessor, whether resident at once or not; -1 when not known.
double blocks_per_multiprocessor(const KernelLaunch& launch, const DeviceProperties& device);

/// 32-thread warps of the grid for each multiprocessor, as the profiler counts them; -1 when not known.
double warps_per_multiprocessor(const KernelLaunch& launch, const DeviceProperties& device);

/// The recorded occupancy if the trace has it, else min(resident_blocks, blocks_per_multiprocessor) · threads
/// of a block / threads a multiprocessor holds, per cent; -1 when not known. An upper bound that takes the
/// grid for evenly spread over the multiprocessors and no part of it for a tail. Blocks of more than 48 KiB
/// shared memory, which PyTorch's profiler counts as 0, are estimated as any other.
double estimated_occupancy(const KernelLaunch& launch, const DeviceProperties& device);

}  // namespace hone::trace
