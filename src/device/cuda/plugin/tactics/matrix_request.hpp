// A Gemm, a MatMul, a convolution that is a product, or a fused form of them as the tactics of this device
// see it.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/libraries/cublaslt.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// How cuBLASLt computes products under a policy of that kind.
cublasComputeType_t compute_type(engine::Compute compute);

/// Gemm and MatMul, with their fused forms.
std::vector<std::string> product_operators();
bool is_gemm(const graph::Node& node);

/// Empty when the product is filled in; else why no tactic of this device takes the step.
Refusal read_product(const engine::StepRequest& request, Product& product);

bool is_convolution(const std::string& op);

/// A convolution by filters of one pixel, without groups: every pixel of a channels-last image is a row.
/// Empty when the product is filled in; else why it is none.
Refusal read_pixel_product(const engine::StepRequest& request, Product& product);

/// A product with a constant matrix, and what follows it, as kernels of ours take it.
struct LayerProduct {
  Product product;  ///< without its epilogue, but for the bias
  std::vector<PostOpRequest> post_ops;
};

/// Empty when it is one and filled in. A bias is constant too: it may be read before the kernel ahead has
/// ended.
Refusal read_layer(const engine::StepRequest& request, LayerProduct& layer);

/// Its matrix as rows of its depth.
PackedConstant pack_columns(Gpu& gpu, const engine::StepRequest& request, const Product& product,
                            engine::WeightStore& weights);

}  // namespace hone::device::cuda
