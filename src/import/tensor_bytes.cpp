// See tensor_bytes.hpp.
#include "import/tensor_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"

namespace hone::importer {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

int64_t tensor_bytes(DType dtype, const Shape& shape) {
  return base::checked_mul(tensor::element_count(shape), static_cast<int64_t>(tensor::dtype_size(dtype)));
}

/// True if the bytes can be used in place.
static bool can_view(DType dtype, const std::byte* data) {
  // A bool whose byte is neither 0 nor 1 is undefined behaviour, so bools are always copied.
  return dtype != DType::kBool && reinterpret_cast<uintptr_t>(data) % tensor::dtype_size(dtype) == 0;
}

Tensor tensor_from_bytes(DType dtype, const Shape& shape, std::span<const std::byte> bytes, const char* field,
                         const std::shared_ptr<const void>& owner) {
  const int64_t wanted = tensor_bytes(dtype, shape);
  if (static_cast<uint64_t>(wanted) != bytes.size()) {
    fail_bad_input("{} holds {} bytes, but {}[{}] needs {}", field, bytes.size(), tensor::dtype_name(dtype),
                   tensor::shape_text(shape), wanted);
  }
  if (owner != nullptr && can_view(dtype, bytes.data())) return Tensor(dtype, shape, bytes.data(), owner);
  Tensor result(dtype, shape);
  if (dtype == DType::kBool) {
    std::transform(bytes.begin(), bytes.end(), result.mutable_bytes(),
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    return result;
  }
  if (!bytes.empty()) std::memcpy(result.mutable_bytes(), bytes.data(), bytes.size());
  return result;
}

}  // namespace hone::importer
