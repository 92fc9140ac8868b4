// MatMulBnb4 of com.microsoft: weights of 4 bits that index a table of values, with a scale for each block.
#include <array>

#include "base/checked.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Tensor;
using graph::ValueId;

using Levels = std::array<float, 16>;

/// Numbers with a sign, two exponent bits and one mantissa bit, divided by the largest of them, 12.
constexpr Levels kFloat4 = {
    0,     0.0625F / 12,  8.0F / 12,  1,  4.0F / 12,  6.0F / 12,  2.0F / 12,  3.0F / 12,
    -0.0F, -0.0625F / 12, -8.0F / 12, -1, -4.0F / 12, -6.0F / 12, -2.0F / 12, -3.0F / 12};

/// Quantiles of the normal distribution. Source: T. Dettmers et al., "QLoRA", appendix E.
constexpr Levels kNormalFloat4 = {
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

const Tensor& constant_input(Expansion& e, size_t i, int64_t size) {
  const Tensor* tensor = e.graph.constant(e.in(i));
  if (tensor == nullptr) fail_bad_input("input {} is not constant, which is not supported", i);
  if (tensor->size() != size)
    fail_bad_input("input {} has {} elements, expected {}", i, tensor->size(), size);
  return *tensor;
}

/// Unpacks the weights [columns, depth]; the first of two numbers in a byte has the high bits.
Tensor unpacked(const Tensor& packed, const Tensor& scales, const Levels& levels, int64_t columns,
                int64_t depth, int64_t block) {
  const auto bytes = packed.values<uint8_t>();
  const auto scale = scales.to_double();
  Tensor matrix(DType::kFloat32, {columns, depth});
  auto out = matrix.mutable_values<float>();
  for (size_t i = 0; i < out.size(); ++i) {
    const int index = i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
    out[i] = static_cast<float>(levels[static_cast<size_t>(index)] * scale[i / static_cast<size_t>(block)]);
  }
  return matrix;
}

void matmul_bnb4(Expansion& e) {
  const int64_t columns = e.count("N");
  const int64_t depth = e.count("K");
  const int64_t block = e.count("block_size");
  const int64_t type = e.integer("quant_type", 0);
  if (type != 0 && type != 1) fail_bad_input("attribute 'quant_type' is {}, expected 0 or 1", type);
  if (e.integer("transB", 1) != 1) fail_bad_input("attribute 'transB' is 0, which is not supported");
  e.ignore("training_mode");
  const int64_t numbers = base::checked_mul(columns, depth);
  const Tensor& packed = constant_input(e, 1, numbers / 2 + numbers % 2);
  const Tensor& scales = constant_input(e, 2, numbers / block + (numbers % block != 0));
  if (packed.dtype() != DType::kUInt8) fail_bad_input("input 1 is of another type than uint8");
  const Tensor matrix = unpacked(packed, scales, type == 0 ? kFloat4 : kNormalFloat4, columns, depth, block);
  const ValueId x = e.in(0);
  e.give(0, e.op("MatMul", {x, e.transpose(e.constant(matrix.cast(e.dtype(x))), {1, 0})}));
}

constexpr ExpansionRule kRules[] = {{kMicrosoft, "MatMulBnb4", 0, matmul_bnb4}};

}  // namespace

std::span<const ExpansionRule> table_quantized_expansions() { return kRules; }

}  // namespace hone::importer
