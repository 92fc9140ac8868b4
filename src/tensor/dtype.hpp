// Element types of tensors, their names and sizes, and the dispatch from a run-time type to a C++ type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "tensor/float_types.hpp"

namespace hone::tensor {

/// Values are those of onnx.TensorProto.DataType, so files and memory use the same numbers.
enum class DType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
};

/// "float32", "bfloat16", … (numpy's names).
std::string_view dtype_name(DType dtype);
/// Bytes of one element; internal error for kUndefined and kString.
size_t dtype_size(DType dtype);
/// True if tensors of this type can exist in memory (not strings and complex numbers).
bool is_supported(DType dtype);
bool is_floating(DType dtype);
/// float16 and bfloat16.
constexpr bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }
bool is_integer(DType dtype);

template <class T>
struct DTypeOf;
#define HONE_DTYPE_OF(type, dtype)               \
  template <>                                    \
  struct DTypeOf<type> {                         \
    static constexpr DType value = DType::dtype; \
  };
HONE_DTYPE_OF(float, kFloat32)
HONE_DTYPE_OF(double, kFloat64)
HONE_DTYPE_OF(Half, kFloat16)
HONE_DTYPE_OF(BFloat16, kBFloat16)
HONE_DTYPE_OF(int8_t, kInt8)
HONE_DTYPE_OF(int16_t, kInt16)
HONE_DTYPE_OF(int32_t, kInt32)
HONE_DTYPE_OF(int64_t, kInt64)
HONE_DTYPE_OF(uint8_t, kUInt8)
HONE_DTYPE_OF(uint16_t, kUInt16)
HONE_DTYPE_OF(uint32_t, kUInt32)
HONE_DTYPE_OF(uint64_t, kUInt64)
HONE_DTYPE_OF(bool, kBool)
#undef HONE_DTYPE_OF

/// Calls `f.template operator()<T>()` with the C++ type of `dtype`; bad input for types without one.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32: return f.template operator()<float>();
    case DType::kFloat64: return f.template operator()<double>();
    case DType::kFloat16: return f.template operator()<Half>();
    case DType::kBFloat16: return f.template operator()<BFloat16>();
    case DType::kInt8: return f.template operator()<int8_t>();
    case DType::kInt16: return f.template operator()<int16_t>();
    case DType::kInt32: return f.template operator()<int32_t>();
    case DType::kInt64: return f.template operator()<int64_t>();
    case DType::kUInt8: return f.template operator()<uint8_t>();
    case DType::kUInt16: return f.template operator()<uint16_t>();
    case DType::kUInt32: return f.template operator()<uint32_t>();
    case DType::kUInt64: return f.template operator()<uint64_t>();
    case DType::kBool: return f.template operator()<bool>();
    default: break;
  }
  fail_bad_input("element type {} is not supported here", dtype_name(dtype));
}

/// Calls `f` for floating types only.
template <class F>
decltype(auto) visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32: return f.template operator()<float>();
    case DType::kFloat64: return f.template operator()<double>();
    case DType::kFloat16: return f.template operator()<Half>();
    case DType::kBFloat16: return f.template operator()<BFloat16>();
    default: break;
  }
  fail_bad_input("element type {} is not a floating-point type", dtype_name(dtype));
}

}  // namespace hone::tensor
