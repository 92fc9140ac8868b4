// Operator table entries of the convolution family: convolutions. The other parts of the family are in
// pooling.cpp, resize.cpp and sampling.cpp.
#include "graph/convolution_geometry.hpp"
#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

constexpr int64_t kMaxRank = 16;

constexpr Traits kConvolution = {.product = Product::kConvolution, .sums_products = true};

void infer_conv(InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) require_same_dtype(context, 0, i);
  const auto dims = convolution_output(context, 0, 1);
  if (dims) check_channel_vector(context, 2, (*dims)[1]);
  context.set_output(0, context.dtype(0), dims);
}

double conv_flops(const Graph& graph, const Node& node) { return convolution_flops(graph, node, 1, 2); }

/// Number of output channels: input 1 is [C, M / group, kernel...].
Dim transposed_channels(const InferenceContext& context, int64_t group) {
  if (!context.ranked(1)) return {};
  const Dims& w = context.dims(1);
  if (context.ranked(0)) {
    const Dim& channels = context.dims(0)[1];
    context.require(!channels.known() || channels.value() % group == 0,
                    "{} channels do not divide into {} groups", channels.text(), group);
    context.require(!channels.known() || !w[0].known() || channels.same_as(w[0]),
                    "input 0 has {} channels, but input 1 takes {}", channels.text(), w[0].text());
  }
  return w[1] * Dim(group);
}

void infer_conv_transpose(InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) require_same_dtype(context, 0, i);
  const auto ranks = convolution_rank(context, 0, 1);
  if (!ranks) return context.set_output(0, context.dtype(0), std::nullopt);
  const int64_t group = convolution_group(context);
  const Dim channels = transposed_channels(context, group);
  check_channel_vector(context, 2, channels);
  Dims dims(static_cast<size_t>(*ranks));
  if (context.ranked(0)) dims[0] = context.dims(0)[0];
  dims[1] = channels;
  if (const auto kernel = kernel_sizes(context.attributes(), context.input(1).dims)) {
    context.require(kernel->size() + 2 == dims.size(), "attribute 'kernel_shape' has {} entries, expected {}",
                    kernel->size(), dims.size() - 2);
    const Window window = read_window(context.attributes(), *kernel);
    for (size_t i = 0; i < window.rank(); ++i) {
      const Dim input = context.ranked(0) ? context.dims(0)[i + 2] : Dim();
      dims[i + 2] = transposed_output(window, context.attributes(), i, input);
    }
  }
  context.set_output(0, context.dtype(0), std::move(dims));
}

/// Every input element is multiplied by every weight of its channel: 2 N L C (M / group) K.
double conv_transpose_flops(const Graph& graph, const Node& node) {
  const Dims& w = *graph.value(node.inputs[1]).type.dims;
  double weights = 1;
  for (size_t i = 1; i < w.size(); ++i) weights *= static_cast<double>(w[i].value());
  const double bias = node.has_input(2) ? value_elements(graph, node.outputs[0]) : 0;
  return 2 * value_elements(graph, node.inputs[0]) * weights + bias;
}

}  // namespace

std::vector<AttributeDef> convolution_attributes() {
  return {string_attribute("auto_pad", "NOTSET"),
          optional_attribute("dilations", AttributeKind::kInts),
          int_attribute("group", 1),
          optional_attribute("kernel_shape", AttributeKind::kInts),
          optional_attribute("pads", AttributeKind::kInts),
          optional_attribute("strides", AttributeKind::kInts)};
}

std::optional<int64_t> convolution_rank(const InferenceContext& context, size_t x, size_t w) {
  context.require_rank(x, 3, kMaxRank);
  context.require_rank(w, 3, kMaxRank);
  if (!context.ranked(x) && !context.ranked(w)) return std::nullopt;
  if (!context.ranked(x)) return context.rank(w);
  context.require(!context.ranked(w) || context.rank(w) == context.rank(x),
                  "input {} has rank {}, expected {}", w, context.ranked(w) ? context.rank(w) : 0,
                  context.rank(x));
  return context.rank(x);
}

int64_t convolution_group(const InferenceContext& context) {
  const int64_t group = context.attributes().get_int("group");
  context.require(group >= 1, "attribute 'group' is {}, expected at least 1", group);
  return group;
}

std::optional<Dims> convolution_output(const InferenceContext& context, size_t x, size_t w) {
  const auto rank = convolution_rank(context, x, w);
  if (!rank) return std::nullopt;
  const int64_t group = convolution_group(context);
  Dims dims(static_cast<size_t>(*rank));
  if (context.ranked(x)) dims[0] = context.dims(x)[0];
  if (context.ranked(w)) {
    dims[1] = context.dims(w)[0];
    context.require(!dims[1].known() || dims[1].value() % group == 0,
                    "{} output channels do not divide into {} groups", dims[1].text(), group);
  }
  if (context.ranked(x) && context.ranked(w)) {
    const Dim& channels = context.dims(x)[1];
    const Dim& taken = context.dims(w)[1];
    context.require(!channels.known() || !taken.known() ||
                        (channels.value() % group == 0 && channels.value() / group == taken.value()),
                    "input {} has {} channels, but input {} takes {} in {} groups", x, channels.text(), w,
                    taken.text(), group);
  }
  const auto kernel = kernel_sizes(context.attributes(), context.input(w).dims);
  if (!kernel) return dims;
  context.require(kernel->size() + 2 == dims.size(), "attribute 'kernel_shape' has {} entries, expected {}",
                  kernel->size(), dims.size() - 2);
  const Window window = read_window(context.attributes(), *kernel);
  if (!context.ranked(x)) return dims;
  for (size_t i = 0; i < window.rank(); ++i) {
    dims[i + 2] = window_output(window, i, context.dims(x)[i + 2]);
  }
  return dims;
}

void check_channel_vector(const InferenceContext& context, size_t input, const Dim& channels) {
  if (!context.has_input(input) || !context.ranked(input)) return;
  context.require_rank(input, 1, 1);
  const Dim& size = context.dims(input)[0];
  context.require(!size.known() || !channels.known() || size.same_as(channels),
                  "input {} has {} elements, expected {}", input, size.text(), channels.text());
}

double value_elements(const Graph& graph, ValueId id) {
  double elements = 1;
  for (const Dim& dim : *graph.value(id).type.dims) elements *= static_cast<double>(dim.value());
  return elements;
}

double convolution_flops(const Graph& graph, const Node& node, size_t w, size_t bias) {
  const double outputs = value_elements(graph, node.outputs[0]);
  const Dims& weights = *graph.value(node.inputs[w]).type.dims;
  double macs = outputs;
  for (size_t i = 1; i < weights.size(); ++i) macs *= static_cast<double>(weights[i].value());

  return 2 * macs + (node.has_input(bias) ? outputs : 0);
}

void add_convolution_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "Conv",
                   .since_version = 22,
                   .min_inputs = 2,
                   .max_inputs = 3,
                   .attributes = convolution_attributes(),
                   .infer = infer_conv,
                   .flops = conv_flops,
                   .traits = kConvolution,
                   .keeps_batch = keeps_batch_always});
  auto transposed = convolution_attributes();
  transposed.push_back(optional_attribute("output_padding", AttributeKind::kInts));
  transposed.push_back(optional_attribute("output_shape", AttributeKind::kInts));
  table.push_back({.name = "ConvTranspose",
                   .since_version = 22,
                   .min_inputs = 2,
                   .max_inputs = 3,
                   .attributes = std::move(transposed),
                   .infer = infer_conv_transpose,
                   .flops = conv_transpose_flops,
                   .traits = kConvolution,
                   .keeps_batch = keeps_batch_always});
  add_pooling_operators(table);
  add_resize_operator(table);
  add_sampling_operators(table);
}

}  // namespace hone::graph
