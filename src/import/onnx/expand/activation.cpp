// Activations: the standard's Swish, and the Gelu family of com.microsoft with fused biases.
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::ValueId;

/// x · sigmoid(alpha · x)
ValueId swish(Expansion& e, ValueId x, float alpha) {
  const ValueId scaled = alpha == 1.0f ? x : e.op("Mul", {x, e.number_like(alpha, x)});
  return e.op("Mul", {x, e.op("Sigmoid", {scaled})});
}

void standard_swish(Expansion& e) { e.give(0, swish(e, e.in(0), e.real("alpha", 1.0f))); }

void quick_gelu(Expansion& e) { e.give(0, swish(e, e.in(0), e.real("alpha", 1.702f))); }

void gelu(Expansion& e) { e.give(0, e.op("Gelu", {e.in(0)})); }

void bias_gelu(Expansion& e) { e.give(0, e.op("Gelu", {e.op("Add", {e.in(0), e.in(1)})})); }

void fast_gelu(Expansion& e) {
  const ValueId x = e.has_in(1) ? e.op("Add", {e.in(0), e.in(1)}) : e.in(0);
  e.give(0, e.op("Gelu", {x}, attributes({{"approximate", std::string("tanh")}})));
}

/// Adds a bias, then multiplies the first half of the channels by Gelu of the second half.
void bias_split_gelu(Expansion& e) {
  const auto halves = e.split(e.op("Add", {e.in(0), e.in(1)}), -1, 2);
  e.give(0, e.op("Mul", {halves[0], e.op("Gelu", {halves[1]})}));
}

void bias_add(Expansion& e) { e.give(0, e.op("Add", {e.op("Add", {e.in(0), e.in(1)}), e.in(2)})); }

constexpr ExpansionRule kRules[] = {
    {"", "Swish", 24, standard_swish},      {kMicrosoft, "QuickGelu", 0, quick_gelu},
    {kMicrosoft, "Gelu", 0, gelu},          {kMicrosoft, "BiasGelu", 0, bias_gelu},
    {kMicrosoft, "FastGelu", 0, fast_gelu}, {kMicrosoft, "BiasSplitGelu", 0, bias_split_gelu},
    {kMicrosoft, "BiasAdd", 0, bias_add},
};

}  // namespace

std::span<const ExpansionRule> activation_expansions() { return kRules; }

}  // namespace hone::importer
