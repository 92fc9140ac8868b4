// Splits a tensor into slices along an axis and stacks slices, for any element type.
#pragma once

#include <vector>

#include "tensor/tensor.hpp"

namespace hone::reference {

/// Slice `index` along `axis`, whose rank is one less.
tensor::Tensor slice(const tensor::Tensor& tensor, int64_t axis, int64_t index);

/// Stacks the elements along a new axis. `like` gives their type and shape, so that the list may be empty;
/// bad input if an element differs from it.
tensor::Tensor stack(const std::vector<tensor::Tensor>& elements, int64_t axis, const tensor::Tensor& like);

}  // namespace hone::reference
