// See dtype.hpp.
#include "tensor/dtype.hpp"

namespace hone::tensor {

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kUndefined: return "undefined";
    case DType::kFloat32: return "float32";
    case DType::kUInt8: return "uint8";
    case DType::kInt8: return "int8";
    case DType::kUInt16: return "uint16";
    case DType::kInt16: return "int16";
    case DType::kInt32: return "int32";
    case DType::kInt64: return "int64";
    case DType::kString: return "string";
    case DType::kBool: return "bool";
    case DType::kFloat16: return "float16";
    case DType::kFloat64: return "float64";
    case DType::kUInt32: return "uint32";
    case DType::kUInt64: return "uint64";
    case DType::kComplex64: return "complex64";
    case DType::kComplex128: return "complex128";
    case DType::kBFloat16: return "bfloat16";
  }
  return "unknown";
}

size_t dtype_size(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kBool: return 1;
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kFloat16:
    case DType::kBFloat16: return 2;
    case DType::kFloat32:
    case DType::kInt32:
    case DType::kUInt32: return 4;
    case DType::kFloat64:
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kComplex64: return 8;
    case DType::kComplex128: return 16;
    case DType::kUndefined:
    case DType::kString: break;
  }
  fail_internal("element type {} has no fixed size", dtype_name(dtype));
}

bool is_supported(DType dtype) {
  // Files may contain numbers that are not in the enumeration (8-bit floats, 4-bit integers).
  return dtype > DType::kUndefined && dtype <= DType::kBFloat16 && dtype != DType::kString &&
         dtype != DType::kComplex64 && dtype != DType::kComplex128;
}

bool is_floating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

bool is_integer(DType dtype) { return is_supported(dtype) && !is_floating(dtype) && dtype != DType::kBool; }

}  // namespace hone::tensor
