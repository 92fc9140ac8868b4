// The sum of two products of bytes by one kernel, with the results of launch_bytes() twice: the bytes of the
// first product, which end a projected shortcut, are the operand that the second one adds. They stay in the
// shared memory of the block that needs them.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"

namespace hone::device::cuda {

/// Results of the same shape, both bytes: with bounds at most of the first product, added by the second.
struct ByteSum {
  ByteProblem first;
  ByteProblem second;
};

/// Arguments of both products, without operands. The bytes of the first one are not written, and its `y` and
/// `next_waits` not looked at.
struct ByteSumArgs {
  ByteArgs first;
  ByteArgs second;
};

/// Why the sum cannot run at all, or not so on that device; empty when it can.
Refusal byte_sum_refusal(const ByteSum& sum, const DeviceProperties& device);
Refusal byte_sum_refusal(const ByteSum& sum, const WarpgroupConfig& config, const DeviceProperties& device);

/// The configurations that are valid, best guess first, at most `limit`.
std::vector<WarpgroupConfig> byte_sum_configs(const ByteSum& sum, const DeviceProperties& device,
                                              size_t limit = 12);

/// Enqueues the sum; `pdl` and errors as launch_bytes().
cudaError_t launch_byte_sum(const ByteSum& sum, const WarpgroupConfig& config, const ByteSumArgs& args,
                            const LaunchOptions& options);

}  // namespace hone::device::cuda
