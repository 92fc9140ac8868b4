// The passes that only the CPU wants; each file of this folder holds one. They know nothing of its kernels.
#pragma once

#include "transform/pass.hpp"

namespace hone::device::cpu {

transform::Summary gated_product_splitting(graph::Graph& graph);
transform::Summary mean_of_squares(graph::Graph& graph);

}  // namespace hone::device::cpu
