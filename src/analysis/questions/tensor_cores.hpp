// Finds out whether a kernel uses Tensor Cores, and whether an operator could. A kernel's instructions show
// it for certain; if they were not recorded, its name decides, and every figure made from that is labelled
// "by name".
#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

/// Tells of the kernels of one trace, whose names are looked at once each.
class TensorCores {
 public:
  struct Answer {
    bool uses = false;
    bool by_name = true;  ///< else by the kernel's instructions
  };

  explicit TensorCores(const trace::Trace& trace);
  Answer of(const trace::DeviceEvent& kernel);

 private:
  const trace::Trace& trace_;
  std::vector<int8_t> by_name_;  // of a name of the trace: -1 not looked at yet
};

/// Names of libraries from 2018 (h884) to today (nvjet, gmma, FlashAttention, Triton's templates), and of our
/// own kernels. Names that say SIMT or FFMA do not.
bool uses_tensor_cores_by_name(std::string_view kernel);

/// Operators of frameworks that are matrix products or convolutions.
bool is_tensor_core_eligible(std::string_view operator_name);

}  // namespace hone::analysis
