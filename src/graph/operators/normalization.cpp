// Operator table entries of the normalization family: the output has the shape of the input.
#include "graph/operator_table.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// Input i must hold one number per channel (dimension 1 of input 0).
void require_per_channel(const InferenceContext& context, size_t i) {
  if (!context.has_input(i)) return;
  require_floating(context, i);
  context.require_rank(i, 1, 1);
  if (!context.ranked(i) || !context.ranked(0)) return;
  unify(context, context.dims(0)[1], context.dims(i)[0], "the channel count");
}

/// Two operations per element: scale and shift.
double normalization_flops(const Graph& graph, const Node& node) {
  return 2 * value_elements(graph, node.input(0));
}

void infer_batch_normalization(InferenceContext& context) {
  infer_same_floating(context);
  // ONNX treats a vector as one channel.
  context.require_rank(0, 1, INT64_MAX);
  const bool vector = context.ranked(0) && context.rank(0) == 1;
  for (size_t i = 1; i < 5 && !vector; ++i) require_per_channel(context, i);
  const bool training = context.attributes().get_int("training_mode") != 0;
  context.require(training || context.output_count() == 1, "{} outputs, only training mode has more than one",
                  context.output_count());
  context.set_output(1, context.dtype(3), context.input(3).dims);
  context.set_output(2, context.dtype(4), context.input(4).dims);
}

void infer_instance_normalization(InferenceContext& context) {
  infer_same_floating(context);
  context.require_rank(0, 3, INT64_MAX);
  require_per_channel(context, 1);
  require_per_channel(context, 2);
}

void infer_group_normalization(InferenceContext& context) {
  infer_same_floating(context);
  context.require_rank(0, 3, INT64_MAX);
  require_per_channel(context, 1);
  require_per_channel(context, 2);
  const int64_t groups = context.attributes().get_int("num_groups");
  context.require(groups >= 1, "attribute 'num_groups' is {}", groups);
  if (!context.ranked(0) || !context.dims(0)[1].known()) return;
  const int64_t channels = context.dims(0)[1].value();
  context.require(channels % groups == 0, "{} channels do not divide into {} groups", channels, groups);
}

void infer_layer_normalization(InferenceContext& context) {
  infer_same_floating(context);
  const int64_t stash = context.attributes().get_int("stash_type");
  context.require(stash == 1 || stash == 11, "attribute 'stash_type' is {}, expected 1 or 11", stash);
  const auto dtype = static_cast<DType>(stash);
  for (size_t i = 1; i < 3; ++i) context.set_output(i, dtype, std::nullopt);
  if (!context.ranked(0)) return;
  const int64_t axis = context.axis("axis", context.rank(0));
  Dims statistics = context.dims(0);
  for (size_t i = static_cast<size_t>(axis); i < statistics.size(); ++i) statistics[i] = 1;
  for (size_t i = 1; i < 3; ++i) context.set_output(i, dtype, statistics);
}

void infer_lrn(InferenceContext& context) {
  infer_same_floating(context);
  context.require_rank(0, 2, INT64_MAX);
  const int64_t size = context.attributes().get_int("size");
  context.require(size >= 1, "attribute 'size' is {}", size);
}

void infer_lp_normalization(InferenceContext& context) {
  infer_same_floating(context);
  const int64_t p = context.attributes().get_int("p");
  context.require(p == 1 || p == 2, "attribute 'p' is {}, expected 1 or 2", p);
  if (context.ranked(0)) context.axis("axis", context.rank(0));
}

void infer_mean_variance(InferenceContext& context) {
  infer_same_floating(context);
  if (context.ranked(0)) checked_axes(context, context.attributes().get_ints("axes"), context.rank(0));
}

OperatorDef normalization(std::string name, int since, int min_inputs, int max_inputs, InferRule infer,
                          std::vector<AttributeDef> attributes) {
  return {.name = std::move(name),
          .since_version = since,
          .min_inputs = min_inputs,
          .max_inputs = max_inputs,
          .attributes = std::move(attributes),
          .infer = infer,
          .flops = normalization_flops};
}

}  // namespace

void add_normalization_operators(std::vector<OperatorDef>& table) {
  table.push_back(normalization("BatchNormalization", 15, 5, 5, infer_batch_normalization,
                                {float_attribute("epsilon", 1e-5f), float_attribute("momentum", 0.9f),
                                 int_attribute("training_mode", 0)}));
  table.back().max_outputs = 3;
  table.back().keeps_batch = [](const Graph&, const Node& node, int64_t) {
    return node.attributes.get_int("training_mode") == 0;
  };
  table.push_back(normalization("InstanceNormalization", 22, 3, 3, infer_instance_normalization,
                                {float_attribute("epsilon", 1e-5f)}));
  table.back().keeps_batch = keeps_batch_always;
  table.push_back(
      normalization("GroupNormalization", 21, 3, 3, infer_group_normalization,
                    {float_attribute("epsilon", 1e-5f), required_attribute("num_groups", Kind::kInt),
                     int_attribute("stash_type", 1)}));
  table.back().keeps_batch = keeps_batch_always;
  table.push_back(normalization(
      "LayerNormalization", 17, 2, 3, infer_layer_normalization,
      {int_attribute("axis", -1), float_attribute("epsilon", 1e-5f), int_attribute("stash_type", 1)}));
  table.back().max_outputs = 3;
  table.push_back(normalization("LRN", 13, 1, 1, infer_lrn,
                                {float_attribute("alpha", 1e-4f), float_attribute("beta", 0.75f),
                                 float_attribute("bias", 1), required_attribute("size", Kind::kInt)}));
  table.back().keeps_batch = keeps_batch_always;
  table.push_back(normalization("LpNormalization", 22, 1, 1, infer_lp_normalization,
                                {int_attribute("axis", -1), int_attribute("p", 2)}));
  table.push_back(normalization("MeanVarianceNormalization", 13, 1, 1, infer_mean_variance,
                                {{"axes", Kind::kInts, false, Attribute(std::vector<int64_t>{0, 2, 3})}}));
}

}  // namespace hone::graph
