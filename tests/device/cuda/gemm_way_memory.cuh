// Device memory that ways to run a convolution need besides its operands.
#pragma once

#include <algorithm>
#include <span>

#include "device/cuda/gemm_ways.hpp"
#include "device/cuda/implicit_gemm_reference.cuh"

namespace hone::device::cuda::check {

/// Room for the sums of parts, NaN at first, and counters, 0, that launches on one stream share.
class SharedMemory {
 public:
  explicit SharedMemory(std::span<const Way> ways)
      : workspace_(most(ways, &Way::workspace)), counters_(most(ways, &Way::counters)) {
    HONE_MUST(cudaMemset(workspace_.get(), 0xff, workspace_.count()));
    HONE_MUST(cudaMemset(counters_.get(), 0, counters_.count()));
  }
  void give_to(ConvArgs& args) const {
    args.workspace = workspace_.get();
    args.counters = counters_.get();
  }

 private:
  static size_t most(std::span<const Way> ways, int64_t Way::*bytes) {
    int64_t result = 4;
    for (const Way& way : ways) result = std::max(result, way.*bytes);
    return static_cast<size_t>(result);
  }

  Buffer<char> workspace_;
  Buffer<char> counters_;
};

}  // namespace hone::device::cuda::check
