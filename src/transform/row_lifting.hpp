// A pass for devices whose kernels and layouts are made for images.
#pragma once

#include "transform/pass.hpp"

namespace hone::transform {

/// Makes images one pixel high of rows, [N, C, W], from the convolutions that read them on.
Summary row_lifting(Graph& graph);

}  // namespace hone::transform
