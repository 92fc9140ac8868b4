// The precision of a run in the user's notation: one
// precision, or int8 with one for layers in floating point.
#pragma once

#include <string_view>

#include "tensor/precision.hpp"

namespace hone::backend {

struct RunPrecision {
  tensor::Precision precision = tensor::Precision::kFp32;
  /// Used only if `precision` is kInt8.
  tensor::Precision beside_int8 = tensor::Precision::kFp32;
};

/// Parses "fp16", "int8" or "int8+fp16". Usage error for unknown names, or for two whose first is not int8.
RunPrecision parse_run_precision(std::string_view names);

}  // namespace hone::backend
