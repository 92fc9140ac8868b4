// The sum of two products of bytes in one kernel, with the results of two calls of launch_bytes(). The bytes
// of the first product, such as those of a projected shortcut, are the operand that the second one adds. They
// stay in the shared memory of the block that needs them.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"

namespace hone::device::cuda {

/// Both results are bytes of the same shape. The first product has at most bounds; the second one adds it.
struct ByteSum {
  ByteProblem first;
  ByteProblem second;
};

/// Arguments of both products, without operands. The bytes of the first one are not written to memory, and
/// its `y` and `next_waits` are ignored.
struct ByteSumArgs {
  ByteArgs first;
  ByteArgs second;
};

/// The reason why the sum cannot run at all, or not on that device or in that configuration; empty if it can.
Refusal byte_sum_refusal(const ByteSum& sum, const DeviceProperties& device);
Refusal byte_sum_refusal(const ByteSum& sum, const WarpgroupConfig& config, const DeviceProperties& device);

/// The valid configurations, best guess first, at most `limit`.
std::vector<WarpgroupConfig> byte_sum_configs(const ByteSum& sum, const DeviceProperties& device,
                                              size_t limit = 12);

/// Enqueues the sum; `pdl` and errors are those of launch_bytes().
cudaError_t launch_byte_sum(const ByteSum& sum, const WarpgroupConfig& config, const ByteSumArgs& args,
                            const LaunchOptions& options);

}  // namespace hone::device::cuda
