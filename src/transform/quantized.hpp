// Helpers of the passes about quantized numbers: values that were dequantized, and by which scales.
#pragma once

#include <optional>

#include "graph/quantized_chain.hpp"
#include "transform/constants.hpp"
#include "transform/editor.hpp"

namespace hone::transform {

/// The inputs of a DequantizeLinear or QuantizeLinear; a zero point may be absent.
struct Quantized {
  ValueId value = kNoValue;
  ValueId scale = kNoValue;
  ValueId zero_point = kNoValue;
};

using graph::is_byte;
DType dtype_of(const Editor& editor, ValueId id);

/// The operands of the DequantizeLinear without blocks that made the value; nullopt for any other value.
std::optional<Quantized> dequantized(const Editor& editor, ValueId id);
/// The operands of a dequantization of bytes by one constant scale of float32 and one constant zero point.
std::optional<Quantized> dequantized_bytes(const Editor& editor, ValueId id);
/// True if the node quantizes to bytes by one constant scale of float32 and one constant zero point.
bool quantizes_to_bytes(const Editor& editor, const Node& node);

/// The value of a constant zero point of one element; 0 if there is none.
int64_t zero_point_of(const Graph& graph, ValueId zero_point);
/// True if two constant scales and zero points are the same numbers; models bring copies of them.
bool same_scales(const Graph& graph, const Quantized& a, const Quantized& b);

/// A node of that operator with a name of its own that stands for the same nodes of the model.
Node twin_of(const Node& node, std::string op, std::vector<ValueId> inputs, ValueId output);

/// Removes the makers of values that nobody reads any more, and the nodes that only they read.
void remove_unread(Editor& editor, std::vector<ValueId> values);

}  // namespace hone::transform
