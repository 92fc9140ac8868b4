// Recognizes per-channel scales and shifts: see affine.hpp. affine_folding.cpp folds them.
#include "transform/affine.hpp"

#include <algorithm>
#include <cmath>

#include "transform/constants.hpp"

namespace hone::transform {
namespace {

AffineOrReason refused(Refusal reason) { return {std::nullopt, std::move(reason)}; }

bool is_matrix(const Tensor* tensor) { return tensor != nullptr && tensor->rank() == 2; }

}  // namespace

bool Affine::scales() const {
  return std::any_of(scale.begin(), scale.end(), [](double factor) { return factor != 1; });
}

std::optional<Channels> weighted_channels(const Graph& graph, const Node& node) {
  if (node.outputs.empty() || node.inputs.size() < 2) return std::nullopt;
  const graph::TensorType& result = graph.value(node.outputs[0]).type;
  if (!result.ranked() || !tensor::is_floating(result.dtype)) return std::nullopt;
  const auto rank = static_cast<int64_t>(result.dims->size());
  if (node.op == "MatMul") {
    const Tensor* weights = graph.constant(node.inputs[1]);
    if (!is_matrix(weights) || rank < 2) return std::nullopt;
    return Channels{rank, rank - 1, weights->shape()[1]};
  }
  if (node.op != "Conv" && node.op != "ConvTranspose" && node.op != "Gemm") return std::nullopt;
  if (rank < 2 || !(*result.dims)[1].known()) return std::nullopt;
  return Channels{rank, 1, (*result.dims)[1].value()};
}

AffineOrReason batch_norm_affine(const Graph& graph, const Node& node, int64_t channels) {
  if (node.attributes.get_int("training_mode") != 0) return refused("it is in training mode");
  std::vector<double> parameters[4];
  for (size_t i = 0; i < 4; ++i) {
    const Tensor* tensor = graph.constant(node.input(i + 1));
    if (tensor == nullptr) return refused(fmt::format("its input {} is not constant", i + 1));
    if (tensor->size() != channels)
      return refused(fmt::format("its input {} has not one element a channel", i + 1));
    parameters[i] = tensor->to_double();
  }
  const double epsilon = node.attributes.get_float("epsilon");
  Affine affine;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const double scale = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
    if (!std::isfinite(scale)) return refused(fmt::format("the scale of channel {} is not finite", c));
    affine.scale.push_back(scale);
    affine.shift.push_back(parameters[1][c] - parameters[2][c] * scale);
  }
  return {std::move(affine), {}};
}

AffineOrReason as_affine(const Graph& graph, const Node& node, ValueId main, const Channels& channels) {
  if (node.op == "BatchNormalization") {
    if (node.inputs[0] != main) return refused("the result is one of its parameters");
    if (channels.axis != 1) return refused("it normalises another axis than the one the weights make");
    return batch_norm_affine(graph, node, channels.count);
  }
  const bool sum = node.op == "Add" || node.op == "Sub";
  const bool product = node.op == "Mul" || node.op == "Div";
  if (!sum && !product) return {};
  const bool main_first = node.inputs[0] == main;
  if (!main_first && (node.op == "Sub" || node.op == "Div")) return {};
  auto operand =
      per_channel(graph, node.inputs[main_first ? 1 : 0], channels.rank, channels.axis, channels.count);
  if (!operand) return {};
  const auto count = static_cast<size_t>(channels.count);
  Affine affine{std::vector<double>(count, 1), std::vector<double>(count, 0)};
  for (size_t c = 0; c < count; ++c) {
    const double value = (*operand)[c];
    if (node.op == "Add") affine.shift[c] = value;
    if (node.op == "Sub") affine.shift[c] = -value;
    if (node.op == "Mul") affine.scale[c] = value;
    if (node.op == "Div") affine.scale[c] = 1 / value;
    if (!std::isfinite(affine.scale[c]) || !std::isfinite(affine.shift[c])) {
      return refused(fmt::format("the operand of channel {} is not finite or zero", c));
    }
  }
  return {std::move(affine), {}};
}

}  // namespace hone::transform
