// A pass for devices whose kernels and layouts are made for images.
#pragma once

#include "transform/pass.hpp"

namespace hone::transform {

/// Converts rows [N, C, W] to images one pixel high, beginning with the convolutions that read them.
Summary row_lifting(Graph& graph);

}  // namespace hone::transform
