// Taking a tensor apart along an axis and putting it together again, for any element type.
#pragma once

#include <vector>

#include "tensor/tensor.hpp"

namespace hone::reference {

/// Element `index` along `axis`, of one rank less.
tensor::Tensor slice(const tensor::Tensor& tensor, int64_t axis, int64_t index);

/// The elements side by side along a new axis. `like` says how an element looks, so that there may be none;
/// bad input when one differs from it.
tensor::Tensor stack(const std::vector<tensor::Tensor>& elements, int64_t axis, const tensor::Tensor& like);

}  // namespace hone::reference
