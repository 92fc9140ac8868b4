// The passes for all devices; each is in its own file in passes/. pass_list.cpp orders and describes them.
#pragma once

#include "transform/pass.hpp"

namespace hone::transform {

Summary constant_folding(Graph& graph);
Summary branch_selection(Graph& graph);
Summary captured_constants(Graph& graph);
Summary half_widening(Graph& graph);
Summary identity_removal(Graph& graph);
Summary common_subexpression(Graph& graph);
Summary reshape_cancellation(Graph& graph);
Summary einsum_lowering(Graph& graph);
Summary concatenated_slices(Graph& graph);
Summary image_rows(Graph& graph);
Summary row_gathering(Graph& graph);
Summary transpose_cancellation(Graph& graph);
Summary reduce_to_pool(Graph& graph);
Summary pad_folding(Graph& graph);
Summary activation_recognition(Graph& graph);
Summary gelu_recognition(Graph& graph);
Summary layer_norm_recognition(Graph& graph);
Summary group_norm_recognition(Graph& graph);
Summary division_by_constant(Graph& graph);
Summary power_of_constant(Graph& graph);
Summary division_by_root(Graph& graph);
Summary batch_norm_folding(Graph& graph);
Summary summed_convolutions(Graph& graph);
Summary gemm_canonical(Graph& graph);
Summary dead_code(Graph& graph);
Summary batch_norm_lowering(Graph& graph);
Summary transposed_convolution_lowering(Graph& graph);
Summary convolution_fusion(Graph& graph);
Summary squeeze_excite_fusion(Graph& graph);
Summary projection_packing(Graph& graph);
Summary mask_folding(Graph& graph);
Summary attention_fusion(Graph& graph);
Summary matmul_fusion(Graph& graph);
Summary normalization_fusion(Graph& graph);
Summary elementwise_fusion(Graph& graph);

}  // namespace hone::transform
