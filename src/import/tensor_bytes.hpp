// Tensors from the bytes of a file, used where they lie if they may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tensor/tensor.hpp"

namespace hone::importer {

/// Bytes of a tensor; bad input on overflow and on a negative dimension.
int64_t tensor_bytes(tensor::DType dtype, const tensor::Shape& shape);

/// A view of the bytes that `owner` keeps alive; a copy when there is no owner, when they are not aligned for
/// the type, and for bool (whose bytes need not be 0 or 1 in a file). Bad input naming `field` when there are
/// more or fewer bytes than the shape needs.
tensor::Tensor tensor_from_bytes(tensor::DType dtype, const tensor::Shape& shape,
                                 std::span<const std::byte> bytes, const char* field,
                                 const std::shared_ptr<const void>& owner);

}  // namespace hone::importer
