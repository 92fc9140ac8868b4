// The list of passes in the order in which they run. Passes for only one device are in that device's folder.
#include "transform/pass_list.hpp"

#include "transform/device_passes.hpp"
#include "transform/quantized_passes.hpp"
#include "transform/row_lifting.hpp"

namespace hone::transform {
namespace {

constexpr Pass kOwn[] = {
    {"quantized_lowering",
     "Writes QLinearConv and QLinearMatMul as operators between DequantizeLinear and QuantizeLinear, for "
     "devices that ask",
     quantized_lowering, true, true},
    {"quantized_movement", "Moves integers instead of the numbers that they stand for, for devices that ask",
     quantized_movement, true, true},
    {"quantized_weights", "Keeps the integers of weights for products of integers, for devices that ask",
     quantized_weights, true, true},
    {"constant_folding", "Computes nodes whose inputs are all known, such as shapes of static tensors",
     constant_folding, true},
    {"branch_selection", "Replaces an If whose condition is known by the branch that runs", branch_selection,
     true},
    {"captured_constants", "Moves constants that the subgraphs of If, Loop and Scan capture into these",
     captured_constants, true},
    {"half_widening",
     "Computes in float32, which an engine keeps in its own precision, what a model computes in float16 or "
     "bfloat16",
     half_widening, true},
    {"identity_removal", "Removes nodes that change nothing: Identity, Dropout, x + 0, x * 1, full slices",
     identity_removal, true},
    {"common_subexpression", "Computes equal things once, and keeps equal small constants once",
     common_subexpression, true},
    {"reshape_cancellation", "Replaces several Reshapes with one, and computed shapes with constants",
     reshape_cancellation, true},
    {"einsum_lowering", "Replaces an Einsum with transpositions, sums and a product", einsum_lowering, true},
    {"concatenated_slices",
     "Replaces a Concat whose operands are slices of one value with a Gather or Transpose",
     concatenated_slices, true},
    {"row_gathering", "Replaces several nodes that change the order of rows with one Gather", row_gathering,
     true},
    {"image_rows", "Transposes whole images instead of their pixels as rows", image_rows, true},
    {"transpose_cancellation", "Composes or cancels transpositions, also through elementwise nodes",
     transpose_cancellation, true},
    {"reduce_to_pool", "Replaces means and maxima over all spatial axes with global pools", reduce_to_pool,
     true},
    {"pad_folding", "Moves padding into the convolution or pool that reads it", pad_folding, true},
    {"activation_recognition", "Recognises swish, hard swish, mish, Relu and Clip where they are written out",
     activation_recognition, true},
    {"gelu_recognition", "Recognises Gelu where it is written out with erf or tanh", gelu_recognition, true},
    {"layer_norm_recognition", "Recognises layer normalisation where it is written out",
     layer_norm_recognition, true},
    {"group_norm_recognition",
     "Recognises group normalisation where it is written as a normalisation of rows", group_norm_recognition,
     true},
    {"division_by_constant", "Replaces divisions by constants with products", division_by_constant, true},
    {"power_of_constant", "Replaces powers with a constant exponent with products, roots and reciprocals",
     power_of_constant, true},
    {"batch_norm_folding",
     "Folds batch normalisation and other per-channel scales and shifts into the weights before them",
     batch_norm_folding, true},
    {"summed_convolutions", "Replaces a sum of convolutions of one image with one convolution",
     summed_convolutions, true},
    {"gemm_canonical", "Brings products of two matrices and their bias into one form", gemm_canonical, true},
    {"dead_code", "Drops nodes, values and constants that no output needs", dead_code, true},
    {"batch_norm_lowering",
     "Replaces a batch normalisation with no weights before it with a multiplication and an addition",
     batch_norm_lowering, false},
    {"transposed_convolution_lowering",
     "Replaces a transposed convolution with one of stride 1, and moves its outputs to their places",
     transposed_convolution_lowering, false},
    {"row_lifting", "Turns the rows that convolutions read into images one pixel high, for devices that ask",
     row_lifting, false, true},
    {"division_by_root", "Replaces divisions by the root of something smaller with products",
     division_by_root, false},
    {"convolution_fusion", "Fuses a convolution with the activations and additions that follow it",
     convolution_fusion, false},
    {"squeeze_excite_fusion",
     "Fuses squeeze and excitation, from the pool to the product, for devices that ask",
     squeeze_excite_fusion, false, true},
    {"projection_packing",
     "Merges into one the products of one value that attention multiplies with each other, for devices that "
     "ask",
     projection_packing, false, true},
    {"mask_folding", "Adds up the constant masks of attention's scores", mask_folding, false},
    {"attention_fusion",
     "Fuses scaled dot-product attention into one node, with nodes that only arrange its operands, for "
     "devices "
     "that "
     "ask",
     attention_fusion, false, true},
    {"matmul_fusion", "Fuses a matrix product with its bias, activations and additions", matmul_fusion,
     false},
    {"normalization_fusion",
     "Fuses a group or instance normalization with the activations after it, for devices that ask",
     normalization_fusion, false, true},
    {"quantized_fusion",
     "Fuses an operation between DequantizeLinear and QuantizeLinear into one node, for devices that ask",
     quantized_fusion, false, true},
    {"elementwise_fusion", "Fuses chains of elementwise nodes that nothing else absorbed", elementwise_fusion,
     false},
};

}  // namespace

const std::vector<Pass>& passes() {
  static const std::vector<Pass> kPasses = join_passes(kOwn, registered_passes());
  return kPasses;
}

}  // namespace hone::transform
