// Helpers of the tactics of attention (graph/attention.hpp): where its matrices lie, and how a row of scores
// becomes weights.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/kernel.hpp"
#include "graph/attention.hpp"

namespace hone::device::cpu {

/// Matrices in an operand, one for each index of the leading dimensions. Strides are of elements.
struct Matrices {
  size_t operand = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int64_t> offsets;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

/// Bytes of bools where there is a fill, else of float32.
struct ScoreMask {
  Matrices matrices;
  std::optional<float> fill;
  bool where = false;
};

struct AttentionOperands {
  Matrices q;
  Matrices k;  ///< a column a key
  Matrices v;
  std::vector<ScoreMask> masks;
  Matrices result;
  float scale = 1;
  bool guarded = false;
  tensor::DType storage = tensor::DType::kFloat32;

  int64_t heads() const { return static_cast<int64_t>(result.offsets.size()); }
  int64_t keys() const { return k.columns; }
  /// Scales, masks and normalizes the scores of row `row` of a head, in place.
  void weigh(std::span<const void* const> inputs, size_t head, int64_t row, float* scores) const;
};

/// Empty when `operands` is filled in, and `offer` says how they must lie; else why attention cannot run so.
Refusal arrange_attention(const engine::StepRequest& request, engine::Offer& offer,
                          AttentionOperands& operands);

}  // namespace hone::device::cpu
