// The precisions in which a model can run: the types in which floating-point values are stored and
// multiplied.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/dtype.hpp"

namespace hone::tensor {

/// kFp32 is IEEE single precision in every operation, in any order (including minimal filtering of
/// convolutions). kTf32 stores float32 and rounds factors of products to 10 bits of mantissa.
enum class Precision : uint8_t { kFp32, kTf32, kBf16, kFp16, kInt8 };

/// "fp32", "tf32", "bf16", "fp16", "int8".
std::string_view precision_name(Precision precision);
/// Usage error for an unknown name.
Precision parse_precision(std::string_view name);
/// Element type of floating-point values between steps; environment error for int8, because no engine stores
/// them in it.
DType storage_dtype(Precision precision);

}  // namespace hone::tensor
