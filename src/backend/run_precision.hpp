// The precision of a run as users name it: one, or int8 with the one for layers that stay in floating point.
#pragma once

#include <string_view>

#include "tensor/precision.hpp"

namespace hone::backend {

struct RunPrecision {
  tensor::Precision precision = tensor::Precision::kFp32;
  /// Only where `precision` is kInt8.
  tensor::Precision beside_int8 = tensor::Precision::kFp32;
};

/// "fp16", "int8", "int8+fp16". Usage error for unknown names, and for two of which int8 is not the first.
RunPrecision parse_run_precision(std::string_view names);

}  // namespace hone::backend
