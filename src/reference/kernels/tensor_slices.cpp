// See tensor_slices.hpp.
#include "reference/kernels/tensor_slices.hpp"

#include <cstring>

namespace hone::reference {
namespace {

/// A tensor of this shape as `outer` rows of `length` pieces of `piece` bytes along an axis.
struct Pieces {
  size_t outer = 1;
  size_t length = 0;
  size_t piece = 0;

  Pieces(const tensor::Shape& shape, size_t axis, tensor::DType dtype)
      : length(static_cast<size_t>(shape[axis])), piece(tensor::dtype_size(dtype)) {
    for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>(shape[i]);
    for (size_t i = axis + 1; i < shape.size(); ++i) piece *= static_cast<size_t>(shape[i]);
  }
};

}  // namespace

tensor::Tensor slice(const tensor::Tensor& tensor, int64_t axis, int64_t index) {
  const Pieces pieces(tensor.shape(), static_cast<size_t>(axis), tensor.dtype());
  tensor::Shape shape = tensor.shape();
  shape.erase(shape.begin() + axis);
  tensor::Tensor result(tensor.dtype(), std::move(shape));
  for (size_t i = 0; i < pieces.outer && pieces.piece > 0; ++i) {
    std::memcpy(result.mutable_bytes() + i * pieces.piece,
                tensor.bytes() + (i * pieces.length + static_cast<size_t>(index)) * pieces.piece,
                pieces.piece);
  }
  return result;
}

tensor::Tensor stack(const std::vector<tensor::Tensor>& elements, int64_t axis, const tensor::Tensor& like) {
  tensor::Shape shape = like.shape();
  shape.insert(shape.begin() + axis, static_cast<int64_t>(elements.size()));
  tensor::Tensor result(like.dtype(), shape);
  const Pieces pieces(shape, static_cast<size_t>(axis), like.dtype());
  for (size_t k = 0; k < elements.size(); ++k) {
    if (elements[k].dtype() != like.dtype() || elements[k].shape() != like.shape()) {
      fail_bad_input("stacked elements have shapes {} and {}", tensor::shape_text(like.shape()),
                     tensor::shape_text(elements[k].shape()));
    }
    for (size_t i = 0; i < pieces.outer && pieces.piece > 0; ++i) {
      std::memcpy(result.mutable_bytes() + (i * pieces.length + k) * pieces.piece,
                  elements[k].bytes() + i * pieces.piece, pieces.piece);
    }
  }
  return result;
}

}  // namespace hone::reference
