// Fuses squeeze and excitation: the global average pool of an image, the two small convolutions that compute
// a gate for each channel, and the product of the image and the gates.
#include "graph/convolution_geometry.hpp"
#include "graph/post_op.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/region.hpp"

namespace hone::transform {
namespace {

/// Limits that the kernels of all devices support, with any batch and any image.
constexpr int64_t kChannelMultiple = 8;
constexpr int64_t kMostChannels = 8192;
constexpr int64_t kMostHidden = 512;
constexpr int64_t kMostWeights = int64_t{1} << 18;

/// Nodes of one block, in the order in which they run.
struct Block {
  int32_t pool = -1;
  int32_t squeeze = -1;
  int32_t gate = -1;
  int32_t product = -1;
};

bool is_convolution(const Node& node) { return node.op == "Conv" || node.op == "FusedConv"; }

/// The block that ends with product `index`, whose operand `side` is the gate.
std::optional<Block> find_block(const Editor& editor, int32_t index, size_t side) {
  const Node& product = editor.node(index);
  Block block{.product = index};
  block.gate = editor.producer(product.inputs[side]);
  if (block.gate < 0 || !is_convolution(editor.node(block.gate))) return std::nullopt;
  block.squeeze = editor.producer(editor.node(block.gate).inputs[0]);
  if (block.squeeze < 0 || !is_convolution(editor.node(block.squeeze))) return std::nullopt;
  block.pool = editor.producer(editor.node(block.squeeze).inputs[0]);
  if (block.pool < 0 || editor.node(block.pool).op != "GlobalAveragePool") return std::nullopt;
  if (editor.node(block.pool).inputs[0] != product.inputs[1 - side]) return std::nullopt;
  return block;
}

/// Shape of a constant 1 x 1 filter; nullopt for other filters.
std::optional<tensor::Shape> pointwise_filter(const Graph& graph, const Node& convolution) {
  const auto& constant = graph.value(convolution.inputs[1]).constant;
  if (!constant) return std::nullopt;
  const tensor::Shape& shape = constant->shape();
  return shape.size() == 4 && shape[2] == 1 && shape[3] == 1 ? std::optional(shape) : std::nullopt;
}

/// Why one of the convolutions cannot be a part of a block; empty if it can.
Refusal convolution_refusal(const Graph& graph, const Node& convolution) {
  if (!pointwise_filter(graph, convolution))
    return fmt::format("'{}' has no constant filters of 1 x 1", convolution.name);
  if (convolution.has_input(2) && !graph.value(convolution.inputs[2]).constant)
    return fmt::format("the bias of '{}' is not constant", convolution.name);
  const graph::Window window = graph::read_window(convolution.attributes, {1, 1});
  if (convolution.attributes.get_int("group") != 1 || !all_are(window.strides, 1) ||
      !all_are(window.pads_begin, 0) || !all_are(window.pads_end, 0))
    return fmt::format("'{}' has groups, strides or padding", convolution.name);
  const PostOps activation = post_ops_of(convolution);
  if (activation.ops.size() > 1 || !activation.extras.empty())
    return fmt::format("'{}' ends with more than one activation", convolution.name);
  return {};
}

/// Why a block is kept as it is; empty if it is fused.
Refusal refusal(const Editor& editor, const Block& block) {
  const Graph& graph = editor.graph();
  for (const int32_t part : {block.pool, block.squeeze, block.gate}) {
    const Node& node = editor.node(part);
    if (!editor.read_once(node.outputs[0]))
      return fmt::format("others want the result of '{}' too", node.name);
  }
  for (const int32_t part : {block.squeeze, block.gate}) {
    if (Refusal reason = convolution_refusal(graph, editor.node(part))) return reason;
  }
  if (graph.value(editor.node(block.pool).inputs[0]).type.dtype != graph::DType::kFloat32)
    return "its elements are not float32";
  const tensor::Shape squeeze = *pointwise_filter(graph, editor.node(block.squeeze));
  const tensor::Shape gate = *pointwise_filter(graph, editor.node(block.gate));
  const int64_t channels = squeeze[1];
  const int64_t hidden = squeeze[0];
  if (gate[0] != channels) return fmt::format("{} gates for {} channels", gate[0], channels);
  if (channels % kChannelMultiple != 0 || channels < 1 || channels > kMostChannels)
    return fmt::format("{} channels, no multiple of {} up to {}", channels, kChannelMultiple, kMostChannels);
  if (hidden < 1 || hidden > kMostHidden)
    return fmt::format("{} channels between the convolutions, not 1 to {}", hidden, kMostHidden);
  if (hidden * channels > kMostWeights)
    return fmt::format("filters of {} elements, more than {}", hidden * channels, kMostWeights);
  return {};
}

Node fuse(const Editor& editor, const Block& block) {
  const Node& product = editor.node(block.product);
  return make_region("squeeze_excite",
                     {{"pool", editor.node(block.pool)},
                      {"squeeze", editor.node(block.squeeze)},
                      {"gate", editor.node(block.gate)},
                      {"product", product}},
                     {product.outputs[0]});
}

}  // namespace

Summary squeeze_excite_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || editor.node(i).op != "Mul") continue;
    std::optional<Block> block = find_block(editor, i, 0);
    if (!block) block = find_block(editor, i, 1);
    if (!block) continue;
    const std::string first = editor.node(block->pool).name;
    const std::string last = editor.node(i).name;
    if (const Refusal reason = refusal(editor, *block)) {
      summary.refuse(fmt::format("'{}' to '{}' not fused: {}", first, last, reason.text()));
      continue;
    }
    summary.change(fmt::format("squeeze and excitation from '{}' to '{}' became one node", first, last));
    Node fused = fuse(editor, *block);
    for (const int32_t part : {block->pool, block->squeeze, block->gate}) editor.remove(part);
    editor.replace(i, std::move(fused));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
