// Matrix products shared by several kernels.
#pragma once

#include "tensor/tensor.hpp"

namespace hone::reference {

/// numpy.matmul of two tensors of the same compute type (double, int64 or uint64). Throws bad input if the
/// shapes do not fit.
tensor::Tensor matmul(const tensor::Tensor& a, const tensor::Tensor& b);

}  // namespace hone::reference
