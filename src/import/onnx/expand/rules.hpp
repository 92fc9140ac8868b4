// The tables of expansions, one for each family.
#pragma once

#include <span>

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

std::span<const ExpansionRule> activation_expansions();         ///< Swish, Gelu and its variants
std::span<const ExpansionRule> attention_expansions();          ///< Attention of the standard
std::span<const ExpansionRule> block_quantized_expansions();    ///< MatMulNBits, GatherBlockQuantized
std::span<const ExpansionRule> dynamic_quantized_expansions();  ///< products of bytes with float results
std::span<const ExpansionRule> fused_product_expansions();      ///< FusedMatMul, FusedGemm, FusedConv
std::span<const ExpansionRule> group_query_expansions();        ///< GroupQueryAttention
std::span<const ExpansionRule> linear_model_expansions();       ///< linear models and features of ai.onnx.ml
std::span<const ExpansionRule> matrix_expansions();             ///< Inverse, CDist
std::span<const ExpansionRule> microsoft_attention_expansions();  ///< Attention, MultiHeadAttention
std::span<const ExpansionRule> norm_expansions();             ///< normalizations, also with fused additions
std::span<const ExpansionRule> quantized_expansions();        ///< QLinear*, QGemm
std::span<const ExpansionRule> random_expansions();           ///< Random*, Bernoulli
std::span<const ExpansionRule> rotary_expansions();           ///< RotaryEmbedding of both domains
std::span<const ExpansionRule> sequence_expansions();         ///< TensorScatter, CumProd
std::span<const ExpansionRule> table_quantized_expansions();  ///< MatMulBnb4
std::span<const ExpansionRule> tree_expansions();             ///< tree ensembles of ai.onnx.ml
std::span<const ExpansionRule> twin_expansions();             ///< operators that the standard also has

}  // namespace hone::importer
