// Keeps the integers of dequantized weights if a product may use them. Until quantized_fusion has run, a
// region represents the numbers, because other passes would compute constants.
#include <algorithm>
#include <array>

#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "reference/kernel.hpp"
#include "transform/fusion.hpp"
#include "transform/quantized.hpp"
#include "transform/quantized_passes.hpp"
#include "transform/region.hpp"

namespace hone::transform {
namespace {

bool is_product(const Node& node) { return node.op == "Conv" || node.op == "MatMul" || node.op == "Gemm"; }

/// The axis of the weights along which scales may differ: that of the result's channels.
int64_t channel_axis(const Node& product, int64_t rank) {
  if (product.op == "Conv") return 0;
  const bool transposed = product.op == "Gemm" && product.attributes.get_int("transB") != 0;
  return transposed ? rank - 2 : rank - 1;
}

/// True for operators that may be between constants and the integers that are dequantized.
bool makes_integers(const Node& node) {
  static constexpr std::array<std::string_view, 8> kOperators = {
      "QuantizeLinear", "Clip", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Cast", "Identity"};
  return std::find(kOperators.begin(), kOperators.end(), node.op) != kOperators.end();
}

/// Limit on the length of a chain of such nodes; exporters write three or four.
constexpr int kMostNodes = 32;

class WeightKeeper {
 public:
  explicit WeightKeeper(Graph& graph) : editor_(graph) {}

  Summary run() {
    const int32_t count = editor_.count();
    for (int32_t i = 0; i < count; ++i) {
      if (!is_product(editor_.node(i)) || !dequantized_bytes(editor_, editor_.node(i).inputs[0])) continue;
      const Node product = editor_.node(i);
      if (editor_.made_by(product.inputs[1], "DequantizeLinear") == nullptr) continue;
      if (const Refusal reason = keep(product)) {
        summary_.refuse(fmt::format("'{}' computes in floating point: {}", product.name, reason.text()));
      } else {
        summary_.change(fmt::format("'{}' keeps its weights as integers", product.name));
      }
    }
    editor_.commit();
    return std::move(summary_);
  }

 private:
  const Graph& graph() const { return editor_.graph(); }

  /// The constant that a value is, or that a chain of at most `nodes` nodes computes for it; null if there is
  /// none.
  const Tensor* known(ValueId id, int nodes = kMostNodes) {
    if (id == kNoValue) return nullptr;
    if (const Tensor* constant = graph().constant(id)) return constant;
    const int32_t index = editor_.producer(id);
    if (nodes == 0 || index < 0 || !makes_integers(editor_.node(index)) || editor_.is_output(id))
      return nullptr;
    const Node node = editor_.node(index);
    std::vector<const Tensor*> inputs;
    for (const ValueId input : node.inputs) {
      inputs.push_back(known(input, nodes - 1));
      if (input != kNoValue && inputs.back() == nullptr) return nullptr;
    }
    std::vector<Tensor> results = reference::run_node(node, inputs);
    graph::Value& value = editor_.graph().value(id);
    value.type = {results[0].dtype(), graph::Dims(results[0].shape().begin(), results[0].shape().end())};
    value.constant = std::move(results[0]);
    value.data.reset();
    editor_.remove(index);
    return graph().constant(id);
  }

  Refusal keep(const Node& product) {
    const Node dequantize = *editor_.made_by(product.inputs[1], "DequantizeLinear");
    if (editor_.is_output(product.inputs[1])) return "its weights are an output of the model";
    if (dequantize.attributes.get_int("block_size") != 0) return "its weights have scales for blocks";
    if (!is_byte(dtype_of(editor_, dequantize.inputs[0]))) return "its weights have other than 8 bits";
    for (size_t i = 0; i < dequantize.inputs.size(); ++i) {
      if (dequantize.has_input(i) && known(dequantize.inputs[i]) == nullptr)
        return "its weights, or their scales, are computed";
    }
    if (Refusal reason = check(product, dequantize)) return reason;
    wrap(dequantize);
    return {};
  }

  void wrap(const Node& dequantize) {
    const int32_t index = editor_.producer(dequantize.outputs[0]);
    Node region = make_region(std::string(graph::kQuantizedWeights), {{"weights", dequantize}},
                              {dequantize.outputs[0]});
    editor_.replace(index, std::move(region));
  }

  Refusal check(const Node& product, const Node& dequantize) {
    const Tensor& weights = *graph().constant(dequantize.inputs[0]);
    const Tensor& scales = *graph().constant(dequantize.inputs[1]);
    const int64_t rank = weights.rank();
    const bool fits = product.op == "Conv" ? rank == 4 || rank == 5 : rank == 2;
    if (!fits) return "its weights have another rank than images, volumes or matrices need";
    if (scales.dtype() != DType::kFloat32) return "the scales of its weights are no float32";
    const int64_t axis = tensor::normalize_axis(dequantize.attributes.get_int("axis"), rank);
    if (scales.size() != 1 && axis != channel_axis(product, rank))
      return "the scales of its weights lie along another axis than its result's channels";
    const double middle = weights.dtype() == DType::kUInt8 ? 128 : 0;
    const bool centred =
        dequantize.has_input(2) ? is_filled_with(graph(), dequantize.inputs[2], middle) : middle == 0;
    if (!centred) return "the zero points of its weights are not in the middle";
    return {};
  }

  Editor editor_;
  Summary summary_;
};

}  // namespace

Summary quantized_weights(Graph& graph) { return WeightKeeper(graph).run(); }

}  // namespace hone::transform
