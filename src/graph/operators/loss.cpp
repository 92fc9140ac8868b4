// Operator table entries of the loss family: classification losses over [N, C, ...] scores.
#include "graph/operator_table.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// Input 0 is [N, C, d...], input 1 class numbers [N, d...], input 2 optional weights [C].
void infer_loss(InferenceContext& context) {
  require_choice(context, "reduction", {"none", "mean", "sum"});
  require_floating(context, 0);
  require_index_type(context, 1);
  if (context.has_input(2)) require_same_dtype(context, 0, 2);
  context.require_rank(0, 2, INT64_MAX);
  context.require_rank(1, 1, INT64_MAX);
  context.require_rank(2, 1, 1);
  if (context.ranked(0) && context.ranked(1)) {
    context.require(context.rank(0) == context.rank(1) + 1, "scores have rank {}, targets {}",
                    context.rank(0), context.rank(1));
    for (size_t i = 0; i < context.dims(1).size(); ++i) {
      unify(context, context.dims(0)[i == 0 ? 0 : i + 1], context.dims(1)[i],
            fmt::format("dimension {} of the targets", i));
    }
  }
  if (context.ranked(0) && context.ranked(2)) {
    unify(context, context.dims(0)[1], context.dims(2)[0], "the class count");
  }
  const bool none = context.attributes().get_string("reduction") == "none";
  context.set_output(0, context.dtype(0), none ? context.input(1).dims : Dims{});
  context.set_output(1, context.dtype(0), context.input(0).dims);
}

OperatorDef loss(std::string name, int since, int max_outputs) {
  return {
      .name = std::move(name),
      .since_version = since,
      .min_inputs = 2,
      .max_inputs = 3,
      .max_outputs = max_outputs,
      .attributes = {optional_attribute("ignore_index", Kind::kInt), string_attribute("reduction", "mean")},
      .infer = infer_loss};
}

}  // namespace

void add_loss_operators(std::vector<OperatorDef>& table) {
  table.push_back(loss("NegativeLogLikelihoodLoss", 22, 1));
  table.push_back(loss("SoftmaxCrossEntropyLoss", 13, 2));
}

}  // namespace hone::graph
