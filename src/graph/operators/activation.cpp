// Operator table entries of the activations, a part of the elementwise family.
#include "graph/operators/activation.hpp"

#include "graph/operators/rules.hpp"

namespace hone::graph {
namespace {

constexpr Traits kActivation = {.elementwise = true, .activation = true};
constexpr Traits kNonNegative = {.elementwise = true, .non_negative = true, .activation = true};

OperatorDef activation(std::string name, int since, InferRule infer,
                       std::vector<AttributeDef> attributes = {}, const Traits& traits = kActivation) {
  return {.name = std::move(name),
          .since_version = since,
          .min_inputs = 1,
          .max_inputs = 1,
          .attributes = std::move(attributes),
          .infer = infer,
          .traits = traits};
}

void infer_gelu(InferenceContext& context) {
  require_choice(context, "approximate", {"none", "tanh"});
  infer_same_floating(context);
}

/// The slope broadcasts to the input, never the other way round.
void infer_prelu(InferenceContext& context) {
  require_same_dtype(context, 0, 1);
  infer_same(context);
  if (!context.ranked(0) || !context.ranked(1)) return;
  const Dims dims = broadcast_dims(context.dims(0), context.dims(1));
  context.require(dims.size() == context.dims(0).size(), "the slope of shape {} does not broadcast to {}",
                  dims_text(context.dims(1)), dims_text(context.dims(0)));
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& own = context.dims(0)[i];
    context.require(!own.known() || !dims[i].known() || own.same_as(dims[i]),
                    "the slope of shape {} does not broadcast to {}", dims_text(context.dims(1)),
                    dims_text(context.dims(0)));
  }
}

void infer_clip(InferenceContext& context) {
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    require_same_dtype(context, 0, i);
    if (!context.ranked(i) || context.rank(i) == 0) continue;
    // Files of old exporters have one-element vectors here.
    context.require(context.rank(i) == 1 && (!context.dims(i)[0].known() || context.dims(i)[0].is(1)),
                    "input {} has shape {}, expected a scalar", i, dims_text(context.dims(i)));
  }
  infer_same(context);
}

void infer_dropout(InferenceContext& context) {
  require_floating(context, 0);
  infer_same(context);
  context.set_output(1, DType::kBool, context.input(0).dims);
}

}  // namespace

void add_activation_operators(std::vector<OperatorDef>& table) {
  const auto add = [&](OperatorDef def) { table.push_back(std::move(def)); };
  add(activation("Relu", 14, infer_same, {},
                 {.elementwise = true, .non_negative = true, .scales_with_input = true, .activation = true}));
  add(activation("Sigmoid", 13, infer_same_floating, {}, kNonNegative));
  add(activation("HardSwish", 22, infer_same_floating));
  add(activation("Mish", 22, infer_same_floating));
  add(activation("Softplus", 22, infer_same_floating, {}, kNonNegative));
  add(activation("Softsign", 22, infer_same_floating));
  add(activation("Celu", 12, infer_same_floating, {float_attribute("alpha", 1)}));
  add(activation("Elu", 22, infer_same_floating, {float_attribute("alpha", 1)}));
  add(activation("Gelu", 20, infer_gelu, {string_attribute("approximate", "none")}));
  add(activation("HardSigmoid", 22, infer_same_floating,
                 {float_attribute("alpha", 0.2f), float_attribute("beta", 0.5f)}, kNonNegative));
  add(activation("LeakyRelu", 16, infer_same_floating, {float_attribute("alpha", 0.01f)},
                 {.elementwise = true, .scales_with_input = true, .activation = true}));
  // Constants of Klambauer et al., Self-Normalizing Neural Networks (2017).
  add(activation("Selu", 22, infer_same_floating,
                 {float_attribute("alpha", 1.67326319217681884765625f),
                  float_attribute("gamma", 1.05070102214813232421875f)}));
  add(activation("Shrink", 9, infer_same, {float_attribute("bias", 0), float_attribute("lambd", 0.5f)}));
  add(activation("ThresholdedRelu", 22, infer_same_floating, {float_attribute("alpha", 1)}));
  add({.name = "PRelu",
       .since_version = 16,
       .min_inputs = 2,
       .max_inputs = 2,
       .infer = infer_prelu,
       .traits = kActivation});
  add({.name = "Clip",
       .since_version = 13,
       .min_inputs = 1,
       .max_inputs = 3,
       .infer = infer_clip,
       .traits = kActivation});
  add({.name = "Dropout",
       .since_version = 22,
       .min_inputs = 1,
       .max_inputs = 3,
       .max_outputs = 2,
       .attributes = {optional_attribute("seed", AttributeKind::kInt)},
       .infer = infer_dropout,
       .traits = {.elementwise = true, .random = true}});
}

}  // namespace hone::graph
