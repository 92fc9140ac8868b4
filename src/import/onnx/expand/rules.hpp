// The tables of expansions, one a family.
#pragma once

#include <span>

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

std::span<const ExpansionRule> activation_expansions();  ///< Swish, Gelu and its kin
std::span<const ExpansionRule> attention_expansions();   ///< Attention of the standard
std::span<const ExpansionRule> norm_expansions();        ///< normalizations and what is fused into them
std::span<const ExpansionRule> rotary_expansions();      ///< RotaryEmbedding of both domains
std::span<const ExpansionRule> sequence_expansions();    ///< TensorScatter, CumProd

}  // namespace hone::importer
