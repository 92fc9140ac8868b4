// Folds a per-channel scale and shift into the weights and bias of the previous node: see affine.hpp.
#include "transform/affine.hpp"
#include "transform/constants.hpp"

namespace hone::transform {
namespace {

using tensor::Shape;

/// The weights as [before, channels, after]: element (b, c, a) belongs to channel c. If a ConvTranspose has
/// groups of `rows` rows each, it belongs to channel c + b / rows * channels.
struct WeightLayout {
  int64_t before = 1;
  int64_t channels = 1;
  int64_t after = 1;
  int64_t rows_per_group = 0;
};

WeightLayout layout_of(const Node& node, const Shape& shape) {
  const auto product = [&](size_t from) {
    int64_t result = 1;
    for (size_t i = from; i < shape.size(); ++i) result *= shape[i];
    return result;
  };
  const bool channels_first =
      node.op == "Conv" || (node.op == "Gemm" && node.attributes.get_int("transB") != 0);
  if (channels_first) return {1, shape[0], product(1), 0};
  WeightLayout layout{shape[0], shape[1], product(2), 0};
  if (node.op == "ConvTranspose") layout.rows_per_group = shape[0] / node.attributes.get_int("group");
  return layout;
}

Tensor scaled_weights(const Node& node, const Tensor& weights, const std::vector<double>& scale) {
  const WeightLayout layout = layout_of(node, weights.shape());
  std::vector<double> elements = weights.to_double();
  size_t index = 0;
  for (int64_t b = 0; b < layout.before; ++b) {
    const int64_t group = layout.rows_per_group > 0 ? b / layout.rows_per_group : 0;
    for (int64_t c = 0; c < layout.channels; ++c) {
      const double factor = scale.at(static_cast<size_t>(c + group * layout.channels));
      for (int64_t a = 0; a < layout.after; ++a) elements[index++] *= factor;
    }
  }
  return floating_tensor(weights.dtype(), weights.shape(), elements);
}

/// The existing bias, one element for each channel, multiplied by Gemm's beta; nullopt if it is not constant.
std::optional<std::vector<double>> present_bias(const Graph& graph, const Node& node,
                                                const Channels& channels) {
  if (!node.has_input(2)) return std::vector<double>(static_cast<size_t>(channels.count), 0);
  const int64_t rank = node.op == "Gemm" ? 2 : 1;
  auto bias = per_channel(graph, node.inputs[2], rank, rank - 1, channels.count);
  if (!bias || node.op != "Gemm") return bias;
  const double beta = node.attributes.get_float("beta");
  for (double& element : *bias) element *= beta;
  return bias;
}

/// Converts a product of two matrices to a Gemm, which can have a bias.
Node as_gemm(const Node& matmul) {
  Node gemm = matmul;
  gemm.op = "Gemm";
  gemm.attributes = {};
  return gemm;
}

}  // namespace

FoldedOrReason fold_affine(Editor& editor, const Node& node, const Channels& channels, const Affine& affine) {
  const Graph& graph = editor.graph();
  const auto refused = [](Refusal reason) { return FoldedOrReason{std::nullopt, std::move(reason)}; };
  Node folded = node;
  const bool shifts = affine.shift != std::vector<double>(affine.shift.size(), 0);
  if (node.op == "MatMul" && shifts) {
    const graph::TensorType& left = graph.value(node.inputs[0]).type;
    if (!left.ranked() || left.dims->size() != 2)
      return refused("a MatMul of more than two dimensions has no bias");
    folded = as_gemm(node);
  }
  const auto bias = present_bias(graph, folded, channels);
  if (!bias) return refused(fmt::format("the bias of '{}' is not constant along its channels", node.name));
  const graph::DType dtype = graph.value(node.outputs[0]).type.dtype;
  const Tensor* weights = graph.constant(node.inputs[1]);
  if (affine.scales()) {
    if (weights == nullptr) return refused(fmt::format("the weights of '{}' are not constant", node.name));
    Tensor scaled = scaled_weights(node, *weights, affine.scale);
    folded.inputs[1] = editor.add_constant(graph.value(node.inputs[1]).name, std::move(scaled));
  }
  if (!shifts && !node.has_input(2)) return {std::move(folded), {}};
  std::vector<double> sums(bias->size());
  for (size_t c = 0; c < sums.size(); ++c) sums[c] = (*bias)[c] * affine.scale[c] + affine.shift[c];
  const std::string name = node.has_input(2) ? graph.value(node.inputs[2]).name : node.name + ".bias";
  folded.inputs.resize(3, kNoValue);
  folded.inputs[2] = editor.add_constant(name, floating_tensor(dtype, {channels.count}, sums));
  if (folded.op == "Gemm") folded.attributes.set("beta", 1.0f);
  return {std::move(folded), {}};
}

}  // namespace hone::transform
