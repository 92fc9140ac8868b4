// The passes only for CUDA: those of this folder, and those of regions/, which mark the regions for the
// tactics next to them. They use no CUDA header and are part of libhone, so that every program knows their
// names and descriptions, with or without a GPU.
#pragma once

#include "transform/pass.hpp"

namespace hone::device::cuda {

transform::Summary rms_norm_fusion(graph::Graph& graph);
transform::Summary rotary_fusion(graph::Graph& graph);
transform::Summary row_product_splitting(graph::Graph& graph);
transform::Summary cached_attention_fusion(graph::Graph& graph);
transform::Summary row_product_fusion(graph::Graph& graph);
transform::Summary concatenated_convolution_fusion(graph::Graph& graph);
transform::Summary pool_fusion(graph::Graph& graph);
transform::Summary stem_fusion(graph::Graph& graph);
transform::Summary bottleneck_fusion(graph::Graph& graph);
transform::Summary cluster_bottleneck_fusion(graph::Graph& graph);
transform::Summary convolution_sum_fusion(graph::Graph& graph);
transform::Summary quantized_sum_fusion(graph::Graph& graph);
transform::Summary global_pool_fusion(graph::Graph& graph);

}  // namespace hone::device::cuda
