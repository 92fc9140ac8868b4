// See precision.hpp.
#include "tensor/precision.hpp"

namespace hone::tensor {

std::string_view precision_name(Precision precision) {
  switch (precision) {
    case Precision::kFp32: return "fp32";
    case Precision::kTf32: return "tf32";
    case Precision::kBf16: return "bf16";
    case Precision::kFp16: return "fp16";
    case Precision::kInt8: return "int8";
  }
  return "unknown";
}

Precision parse_precision(std::string_view name) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16, Precision::kInt8}) {
    if (precision_name(precision) == name) return precision;
  }
  fail_usage("unknown precision '{}' (fp32, tf32, bf16, fp16, int8)", name);
}

DType storage_dtype(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32: return DType::kFloat32;
    case Precision::kBf16: return DType::kBFloat16;
    case Precision::kFp16: return DType::kFloat16;
    case Precision::kInt8: break;
  }
  fail_environment("no floating-point value has precision {}; hone quantize makes a model whose products do",
                   precision_name(precision));
}

}  // namespace hone::tensor
