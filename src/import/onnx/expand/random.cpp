// Random numbers in plain operators: a hash of each element's index and the seed. Every run draws the same
// numbers. The seed of a node without one is derived from its name.
#include <cmath>
#include <numbers>

#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Tensor;
using graph::ValueId;

/// FNV-1a.
uint32_t hash_of(const std::string& text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

uint32_t read_seed(Expansion& e) {
  if (!e.has_attribute("seed")) return hash_of(e.name());
  return hash_of(fmt::format("{}", e.real("seed", 0)));
}

ValueId word(Expansion& e, uint32_t value) { return e.constant(Tensor::scalar<uint32_t>(value)); }

/// x ^ (x >> bits)
ValueId fold(Expansion& e, ValueId x, uint32_t bits) {
  const auto right = attributes({{"direction", std::string("RIGHT")}});
  return e.op("BitwiseXor", {x, e.op("BitShift", {x, word(e, bits)}, right)});
}

/// `count` float32 numbers in (0, 1), where `count` is a scalar. `stream` distinguishes the draws of one
/// node.
ValueId uniform(Expansion& e, ValueId count, uint32_t stream) {
  const ValueId index = e.op("Range", {e.number(0, DType::kInt64), count, e.number(1, DType::kInt64)});
  ValueId x = e.op("Mul", {e.cast(index, DType::kUInt32), word(e, 0x9e3779b9U)});
  x = e.op("Add", {x, word(e, read_seed(e) + stream * 0x85ebca6bU)});
  // A bijective mixer: every bit of the index changes every bit of the result. Constants: C. Wellons,
  // lowbias32.
  x = e.op("Mul", {fold(e, x, 16), word(e, 0x7feb352dU)});
  x = e.op("Mul", {fold(e, x, 15), word(e, 0x846ca68bU)});
  x = fold(e, x, 16);
  const auto right = attributes({{"direction", std::string("RIGHT")}});
  // 23 bits plus one half, so that the result is neither 0 nor 1.
  const ValueId bits = e.cast(e.op("BitShift", {x, word(e, 9)}, right), DType::kFloat32);
  const ValueId middle = e.op("Add", {bits, e.number(0.5, DType::kFloat32)});
  return e.op("Mul", {middle, e.number(std::ldexp(1.0, -23), DType::kFloat32)});
}

/// Normally distributed numbers with mean 0 and deviation 1, by the Box-Muller transform.
ValueId normal(Expansion& e, ValueId count) {
  const ValueId logarithm = e.op("Log", {uniform(e, count, 0)});
  const ValueId radius = e.op("Sqrt", {e.op("Mul", {logarithm, e.number(-2, DType::kFloat32)})});
  const ValueId turn = e.number(2 * std::numbers::pi, DType::kFloat32);
  return e.op("Mul", {radius, e.op("Cos", {e.op("Mul", {uniform(e, count, 1), turn})})});
}

/// The shape of the result, as an int64 value, and its type.
struct Target {
  ValueId shape;
  DType dtype;
};

Target like_input(Expansion& e) {
  const ValueId x = e.in(0);
  const auto dtype = static_cast<DType>(e.integer("dtype", static_cast<int64_t>(e.dtype(x))));
  return {e.op("Shape", {x}), dtype};
}

Target as_attributes(Expansion& e) {
  const auto dtype = static_cast<DType>(e.integer("dtype", static_cast<int64_t>(DType::kFloat32)));
  return {e.ints(e.integers("shape")), dtype};
}

void give(Expansion& e, const Target& target, ValueId values) {
  if (!tensor::is_floating(target.dtype))
    fail_bad_input("attribute 'dtype' is {}, expected a floating-point type", static_cast<int>(target.dtype));
  e.give(0, e.cast(e.op("Reshape", {values, target.shape}), target.dtype));
}

ValueId count_of(Expansion& e, ValueId shape) {
  return e.op("ReduceProd", {shape}, attributes({{"keepdims", int64_t{0}}}));
}

/// x · scale + offset
ValueId stretched(Expansion& e, ValueId x, float scale, float offset) {
  return e.op("Add", {e.op("Mul", {x, e.number_like(scale, x)}), e.number_like(offset, x)});
}

void give_normal(Expansion& e, const Target& target) {
  const ValueId values = normal(e, count_of(e, target.shape));
  give(e, target, stretched(e, values, e.real("scale", 1.0f), e.real("mean", 0.0f)));
}

void give_uniform(Expansion& e, const Target& target) {
  const float low = e.real("low", 0.0f);
  const float high = e.real("high", 1.0f);
  const ValueId values = uniform(e, count_of(e, target.shape), 0);
  give(e, target, stretched(e, values, high - low, low));
}

void random_normal(Expansion& e) { give_normal(e, as_attributes(e)); }
void random_normal_like(Expansion& e) { give_normal(e, like_input(e)); }
void random_uniform(Expansion& e) { give_uniform(e, as_attributes(e)); }
void random_uniform_like(Expansion& e) { give_uniform(e, like_input(e)); }

/// 1 with the probability that the input gives.
void bernoulli(Expansion& e) {
  const ValueId x = e.in(0);
  const auto dtype = static_cast<DType>(e.integer("dtype", static_cast<int64_t>(e.dtype(x))));
  const ValueId shape = e.op("Shape", {x});
  const ValueId drawn = e.op("Reshape", {uniform(e, count_of(e, shape), 0), shape});
  e.give(0, e.cast(e.op("Less", {drawn, e.cast(x, DType::kFloat32)}), dtype));
}

constexpr ExpansionRule kRules[] = {
    {"", "RandomNormal", 1, random_normal},   {"", "RandomNormalLike", 1, random_normal_like},
    {"", "RandomUniform", 1, random_uniform}, {"", "RandomUniformLike", 1, random_uniform_like},
    {"", "Bernoulli", 15, bernoulli},
};

}  // namespace

std::span<const ExpansionRule> random_expansions() { return kRules; }

}  // namespace hone::importer
