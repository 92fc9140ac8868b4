// The passes about quantized numbers, for devices that compute with integers; pass_list.cpp orders and
// describes them.
#pragma once

#include "transform/pass.hpp"

namespace hone::transform {

Summary quantized_lowering(Graph& graph);
Summary quantized_movement(Graph& graph);
Summary quantized_weights(Graph& graph);
Summary quantized_fusion(Graph& graph);

}  // namespace hone::transform
