// Products of quantized matrices, and activations by name, shared by several families.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// (a - a_zero) · (b - b_zero) · a_scale · b_scale; zero points may be absent.
struct IntegerProduct {
  graph::ValueId a, b, a_scale, b_scale;
  graph::ValueId a_zero = graph::kNoValue;
  graph::ValueId b_zero = graph::kNoValue;  ///< one value, or one for each column
  graph::ValueId added = graph::kNoValue;   ///< int32, added to the product before it is scaled
  float alpha = 1;
};

/// The product in the type of the scales.
graph::ValueId float_product(Expansion& e, const IntegerProduct& product);

/// Applies the activation that the attribute names; returns x itself without one. The parameters are those of
/// alpha and beta that the file has.
graph::ValueId activate(Expansion& e, graph::ValueId x, const std::string& activation,
                        const std::vector<float>& parameters);

}  // namespace hone::importer
