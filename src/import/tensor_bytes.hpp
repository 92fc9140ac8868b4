// Tensors from the bytes of a file, which are used in place if possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tensor/tensor.hpp"

namespace hone::importer {

/// Size of a tensor in bytes; bad input on overflow and for a negative dimension.
int64_t tensor_bytes(tensor::DType dtype, const tensor::Shape& shape);

/// A view of the bytes that `owner` keeps alive. It is a copy if there is no owner, if the bytes are not
/// aligned for the type, and for bool (whose bytes need not be 0 or 1 in a file). Throws bad input that names
/// `field` if there are more or fewer bytes than the shape needs.
tensor::Tensor tensor_from_bytes(tensor::DType dtype, const tensor::Shape& shape,
                                 std::span<const std::byte> bytes, const char* field,
                                 const std::shared_ptr<const void>& owner);

}  // namespace hone::importer
