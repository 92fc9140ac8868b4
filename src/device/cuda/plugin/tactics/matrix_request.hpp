// A Gemm, a MatMul, a convolution that is a product, or a fused
// form of these, in the form that this device's tactics use.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/libraries/cublaslt.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// The compute type of cuBLASLt for a policy of this kind.
cublasComputeType_t compute_type(engine::Compute compute);

/// Gemm and MatMul, with their fused forms.
std::vector<std::string> product_operators();
bool is_gemm(const graph::Node& node);

/// Returns an empty refusal if the product is filled in;
/// otherwise the reason why no tactic here takes the step.
Refusal read_product(const engine::StepRequest& request, Product& product);

bool is_convolution(const std::string& op);

/// Reads a 1 x 1 convolution without groups: every pixel of a channels-last image is a row. Returns an empty
/// refusal if the product is filled in, else the reason.
Refusal read_pixel_product(const engine::StepRequest& request, Product& product);

/// A product with a constant matrix and the operations after it, in the form that hone's own kernels take.
struct LayerProduct {
  Product product;  ///< without its epilogue, except for the bias
  std::vector<PostOpRequest> post_ops;
};

/// Returns an empty refusal if the step is such a product and was filled in. A bias must also be constant,
/// because it may be read before the previous kernel has ended.
Refusal read_layer(const engine::StepRequest& request, LayerProduct& layer);

/// The matrix as rows of its depth.
PackedConstant pack_columns(Gpu& gpu, const engine::StepRequest& request, const Product& product,
                            engine::WeightStore& weights);

}  // namespace hone::device::cuda
