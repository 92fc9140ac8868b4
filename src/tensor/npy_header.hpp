// The header of a .npy file: magic, version, length, and a Python dictionary
// with type and shape.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace hone::tensor {

struct NpyHeader {
  DType dtype = DType::kUndefined;
  Shape shape;
  size_t size = 0;  ///< bytes before the elements
};

/// Parses the header at the start of `file`. Bad input for an unknown version, for big-endian, column-major
/// and object arrays, for types that hone lacks, and for a header of more than 64 KiB.
NpyHeader parse_npy_header(std::string_view file);

/// A version 1 header, padded to a multiple of 64 bytes; internal error for types that numpy lacks.
std::string format_npy_header(DType dtype, const Shape& shape);

}  // namespace hone::tensor
