// FusedConvSum: two convolutions to the same shape, added, as a residual block with a projected shortcut
// ends.
#include "graph/convolution_geometry.hpp"
#include "graph/operator_table.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/fused_rules.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

constexpr const char* kSecond = "second_";

/// x [N, C, spatial...] and filters [M, C / group, kernel...]; of the second convolution, whose attributes
/// begin with "second_", an image and filters that make the same shape; a bias [M] where there is one.
void infer_convolution_sum(InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) require_same_dtype(context, 0, i);
  check_activation(context, "");
  const std::optional<Dims> first = convolution_output(context, 0, 1);
  if (first) check_channel_vector(context, 4, (*first)[1]);
  context.set_output(0, context.dtype(0), first);
  if (!context.ranked(2) || !context.ranked(3)) return;
  const Dims& x = context.dims(2);
  const Dims& filters = context.dims(3);
  context.require(x.size() >= 3 && filters.size() == x.size(), "inputs 2 and 3 have shapes {} and {}",
                  dims_text(x), dims_text(filters));
  const Attributes attributes = context.attributes().part(kSecond);
  const int64_t group = attributes.get_int("group");
  context.require(group == 1, "attribute 'second_group' is {}, expected 1", group);
  context.require(!x[1].known() || !filters[1].known() || x[1].same_as(filters[1]),
                  "input 2 has {} channels, but input 3 takes {}", x[1].text(), filters[1].text());
  const auto kernel = kernel_sizes(attributes, filters);
  if (!kernel || !first) return;
  context.require(kernel->size() + 2 == x.size() && first->size() == x.size(),
                  "attribute 'second_kernel_shape' has {} entries, expected {}", kernel->size(),
                  first->size() - 2);
  const Window window = read_window(attributes, *kernel);
  Dims second = {x[0], filters[0]};
  for (size_t i = 0; i < window.rank(); ++i) second.push_back(window_output(window, i, x[i + 2]));
  for (size_t i = 0; i < second.size(); ++i) {
    context.require(!second[i].known() || !(*first)[i].known() || second[i].same_as((*first)[i]),
                    "the convolutions make {} and {}", dims_text(*first), dims_text(second));
  }
}

/// The operations of both convolutions, of the addition and of the activation.
double convolution_sum_flops(const Graph& graph, const Node& node) {
  const double elements = value_elements(graph, node.output(0));
  const auto post_ops = static_cast<double>(node.attributes.get<std::vector<std::string>>("post_ops").size());
  return convolution_flops(graph, node, 1, 4) + convolution_flops(graph, node, 3, kNoBias) +
         (1 + post_ops) * elements;
}

}  // namespace

void add_convolution_sum_operator(std::vector<OperatorDef>& table) {
  std::vector<AttributeDef> attributes = convolution_attributes();
  for (AttributeDef attribute : convolution_attributes()) {
    attribute.name = kSecond + attribute.name;
    attributes.push_back(std::move(attribute));
  }
  add_post_op_attributes(attributes);
  table.push_back({.name = "FusedConvSum",
                   .since_version = 0,
                   .min_inputs = 4,
                   .max_inputs = 5,
                   .attributes = std::move(attributes),
                   .infer = infer_convolution_sum,
                   .flops = convolution_sum_flops,
                   .keeps_batch = keeps_batch_always});
}

}  // namespace hone::graph
