// How many warps of a kernel a multiprocessor can hold, only from the launch: the estimate that PyTorch's
// profiler records as "est. achieved occupancy %", for traces that lack it and for analyses.
#pragma once

#include "trace/trace.hpp"

namespace hone::trace {

/// Number of blocks of this kernel that fit on one multiprocessor at the same time, by the occupancy
/// calculation of the CUDA C++ Programming Guide: the minimum of the limits by warps, registers, shared
/// memory and block slots.
///
/// Traces lack some facts, so these are assumed: registers are allocated to warps in units of 256, from four
/// parts of the register file (two on compute capability 6.0). Shared memory is allocated in units of 128
/// bytes (256 before 8.0); the driver reserves 1 KiB per block from 8.0 on; the L1 cache leaves as much
/// memory as possible to shared memory. If the block slots are not recorded, those in the guide's table for
/// the compute capability are used. Returns 0 if a block cannot run at all, and -1 if the launch or the
/// device is not sufficiently known.
int resident_blocks(const KernelLaunch& launch, const DeviceProperties& device);

/// Blocks of the grid per multiprocessor, whether they are resident at the same time or not; -1 if unknown.
double blocks_per_multiprocessor(const KernelLaunch& launch, const DeviceProperties& device);

/// 32-thread warps of the grid per multiprocessor, as the profiler counts them; -1 if unknown.
double warps_per_multiprocessor(const KernelLaunch& launch, const DeviceProperties& device);

/// The recorded occupancy if the trace has it, else min(resident_blocks, blocks_per_multiprocessor) · threads
/// per block / threads that a multiprocessor can hold, in per cent; -1 if unknown. This is an upper bound: it
/// assumes that the grid is spread evenly over the multiprocessors, without a tail. Blocks of more than 48
/// KiB shared memory, which PyTorch's profiler counts as 0, are estimated like all others.
double estimated_occupancy(const KernelLaunch& launch, const DeviceProperties& device);

}  // namespace hone::trace
