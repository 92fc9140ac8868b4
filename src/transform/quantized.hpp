// Helpers of the passes about quantized numbers: dequantized values and their scales.
#pragma once

#include <optional>

#include "graph/quantized_chain.hpp"
#include "transform/constants.hpp"
#include "transform/editor.hpp"

namespace hone::transform {

/// The inputs of a DequantizeLinear or QuantizeLinear; the zero point may be absent.
struct Quantized {
  ValueId value = kNoValue;
  ValueId scale = kNoValue;
  ValueId zero_point = kNoValue;
};

using graph::is_byte;
DType dtype_of(const Editor& editor, ValueId id);

/// The operands of the DequantizeLinear (without blocks) that produced the value; nullopt for any other
/// value.
std::optional<Quantized> dequantized(const Editor& editor, ValueId id);
/// The operands of a dequantization of bytes with one constant float32 scale and one constant zero point.
std::optional<Quantized> dequantized_bytes(const Editor& editor, ValueId id);
/// True if the node quantizes to bytes with one constant float32 scale and one constant zero point.
bool quantizes_to_bytes(const Editor& editor, const Node& node);

/// The value of a constant zero point with one element; 0 if it is absent.
int64_t zero_point_of(const Graph& graph, ValueId zero_point);
/// True if two constant scales and zero points have equal values; models contain copies of them.
bool same_scales(const Graph& graph, const Quantized& a, const Quantized& b);

/// A node of this operator with a new name and the same sources as `node`.
Node twin_of(const Node& node, std::string op, std::vector<ValueId> inputs, ValueId output);

/// Removes the producers of values that are not read any more, and the nodes whose results only they read.
void remove_unread(Editor& editor, std::vector<ValueId> values);

}  // namespace hone::transform
