// Tensors of the public API as the library's own, and back.
#pragma once

#include <vector>

#include "hone/tensor.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::api {

/// Usage error for element types that do not exist and for sizes without meaning.
tensor::TensorView inner_view(const TensorView& view);
TensorView outer_view(const tensor::TensorView& view);
std::vector<tensor::TensorView> inner_views(const std::vector<TensorView>& views);
std::vector<TensorView> outer_views(const std::vector<tensor::TensorView>& views);

tensor::Place inner_place(Place place);
Place outer_place(tensor::Place place);

/// Row-major on the host, in memory of exactly its size; usage error for others.
tensor::Tensor inner_tensor(const TensorView& view);
Tensor outer_tensor(tensor::Tensor made);

}  // namespace hone::api
