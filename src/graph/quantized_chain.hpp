// Regions of quantized numbers: one operation between integers, the elementwise operations after it, and the
// rounding of results. Passes create these regions, and devices that compute with integers read them here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// int8 or uint8.
constexpr bool is_byte(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }

/// Constant integers that stand for weights. A region is not folded, so the integers are not converted to
/// floating point before a product of integers absorbs them.
inline constexpr std::string_view kQuantizedWeights = "quantized_weights";
/// A convolution or matrix product of dequantized operands.
inline constexpr std::string_view kQuantizedProduct = "quantized_product";
/// Two regions of such products, the second of which adds the bytes that the first one computes.
inline constexpr std::string_view kQuantizedSum = "quantized_sum";
/// Elementwise operations on dequantized operands, whose result is quantized.
inline constexpr std::string_view kQuantizedMap = "quantized_map";
/// An average pool of a dequantized operand, whose result is quantized.
inline constexpr std::string_view kQuantizedPool = "quantized_pool";

/// Sums of products of integers that become floats, as dynamic quantization writes products, with the
/// elementwise operations that follow. Operands have zero points and no scales; results are not rounded.
inline constexpr std::string_view kIntegerProduct = "integer_product";

/// An operand, described by the positions of its parts among the inputs of the region.
struct QuantizedOperand {
  static constexpr size_t kNone = SIZE_MAX;
  size_t value = kNone;
  /// kNone for an operand in floating point.
  size_t scale = kNone;
  size_t zero_point = kNone;
  /// The axis along which scales differ.
  int64_t axis = 0;

  bool is_present() const { return value != kNone; }
  bool is_quantized() const { return scale != kNone; }
};

/// One operation on each element of the result: a function, an operation with a second operand, or rounding
/// to the integers that `to` describes. The rounded integers are converted back unless it is the last stage.
struct QuantizedStage {
  /// The name of a post-op (post_op.hpp); empty if the stage rounds numbers.
  std::string op;
  float alpha = 0;
  float beta = 0;
  QuantizedOperand operand;
  /// The integers to round to; it has no value.
  QuantizedOperand to;
  /// The type of the rounded integers if `to` has no zero point.
  DType type = DType::kUInt8;

  bool rounds() const { return op.empty(); }
};

/// y = stages(core(x, w) + bias); without a core, y = stages(x).
struct QuantizedChain {
  /// The node of the body with the attributes of the operation, or null.
  const Node* core = nullptr;
  QuantizedOperand x;
  QuantizedOperand w;
  QuantizedOperand bias;
  std::vector<QuantizedStage> stages;
};

/// Reads the chain that the body of a region computes; nullopt if it has another form, as in untrusted files.
std::optional<QuantizedChain> read_quantized_chain(const Node& region);

}  // namespace hone::graph
