// Decides whether a kernel uses Tensor Cores, and whether an operator could. The kernel's instructions are
// certain evidence; if they were not recorded, its name decides, and every figure derived from that is
// labelled "by name".
#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

/// Classifies the kernels of one trace; each name is examined once.
class TensorCores {
 public:
  struct Answer {
    bool uses = false;
    bool by_name = true;  ///< false: decided by the kernel's instructions
  };

  explicit TensorCores(const trace::Trace& trace);
  Answer of(const trace::DeviceEvent& kernel);

 private:
  const trace::Trace& trace_;
  std::vector<int8_t> by_name_;  // for a name of the trace; -1 if it was not examined yet
};

/// Recognizes names of libraries from 2018 (h884) to today (nvjet, gmma, FlashAttention, Triton's templates)
/// and of hone's own kernels. Returns false for names with SIMT or FFMA.
bool uses_tensor_cores_by_name(std::string_view kernel);

/// True for operators of frameworks that are matrix products or convolutions.
bool is_tensor_core_eligible(std::string_view operator_name);

}  // namespace hone::analysis
