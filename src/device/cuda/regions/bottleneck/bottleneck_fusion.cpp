// Fuses the last two convolutions of a bottleneck (He et al. 2016) with its shortcut, and with the first
// convolution of the next one. For large images, the values between them are then neither written nor read;
// for small ones, starting and ending three steps takes longer than multiplying.
#include <algorithm>

#include "device/cuda/passes/pass_list.hpp"
#include "graph/convolution_geometry.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

/// How blocks hold the filters, as the kernels require (bottleneck.hpp, cluster_bottleneck.hpp): all in each
/// block, or a part in each block of a cluster.
enum class Filters { kInEachBlock, kInCluster };

constexpr int64_t kChannels = 64;    ///< channels for which the filters fit into a block
constexpr int64_t kTilePixels = 64;  ///< pixels of a row that a block computes at once
constexpr int64_t kClusterTilePixels = 32;
/// The largest number of blocks that a device runs at the same time.
constexpr int64_t kMostBlocks = 128;

bool takes_channels(Filters filters, int64_t channels) {
  return filters == Filters::kInEachBlock ? channels == kChannels : channels == 128 || channels == 256;
}

/// Nodes of a pattern.
struct Tail {
  int32_t window = -1;  ///< the 3 x 3 convolution
  int32_t expand = -1;
  int32_t project = -1;  ///< the convolution of the shortcut; -1 if there is none
  int32_t next = -1;     ///< -1 if none fits, which clusters of blocks allow

  /// The node with the bottleneck's result.
  int32_t last() const { return project < 0 ? expand : project; }
};

bool adds_first(const Node& node) {
  const PostOps post_ops = post_ops_of(node);
  return !post_ops.ops.empty() && post_ops.ops[0] == "add" && post_ops.extras.size() == 1;
}

/// The convolution that reads the bottleneck's result as its image, or -1. It prefers one that can be fused;
/// if there is none and the kernel needs one, it returns one that cannot.
int32_t next_convolution(const Editor& editor, const Tail& tail, int64_t channels, Filters filters) {
  int32_t found = -1;
  const ValueId wide = editor.node(tail.last()).outputs[0];
  const bool any = channels == kChannels && tail.project < 0;
  for (const int32_t reader : editor.readers(wide)) {
    const Node& node = editor.node(reader);
    const bool fits = is_convolution(editor.graph(), node, {channels, 4 * channels, 1, 1}) ||
                      (any && is_convolution(editor.graph(), node, {2 * channels, 4 * channels, 1, 1}));
    if (!fits || node.inputs[0] != wide) continue;
    if (!bounded_convolution_refusal(editor.graph(), node)) return reader;
    if (found < 0 && filters == Filters::kInEachBlock) found = reader;
  }
  return found;
}

/// The input channels of a convolution; 0 if its filters are not constant, or if the node is not a
/// convolution.
int64_t channels_of(const Graph& graph, const Node& node) {
  if (node.op != "Conv" && node.op != "FusedConv") return 0;
  const auto& constant = graph.value(node.inputs[1]).constant;
  return constant && constant->shape().size() > 1 ? constant->shape()[1] : 0;
}

/// The pattern whose expansion is node `index`.
std::optional<Tail> find_tail(const Editor& editor, int32_t index, Filters filters) {
  const Graph& graph = editor.graph();
  const Node& expand = editor.node(index);
  const int64_t channels = channels_of(graph, expand);
  if (!takes_channels(filters, channels) || !is_convolution(graph, expand, {4 * channels, channels, 1, 1}))
    return std::nullopt;
  Tail tail{.window = editor.producer(expand.inputs[0]), .expand = index};
  if (tail.window < 0 || !is_convolution(graph, editor.node(tail.window), {channels, channels, 3, 3}))
    return std::nullopt;
  if (!adds_first(expand)) {
    if (filters == Filters::kInCluster) return std::nullopt;
    // If two convolutions could take the addition, the later one takes it.
    tail.project = editor.single_reader(expand.outputs[0]);
    if (tail.project < 0) return std::nullopt;
    const Node& project = editor.node(tail.project);
    if (!is_convolution(graph, project, {4 * channels, channels, 1, 1}) || !adds_first(project) ||
        post_ops_of(project).extras[0] != expand.outputs[0])
      return std::nullopt;
  }
  tail.next = next_convolution(editor, tail, channels, filters);
  return tail.next < 0 && filters == Filters::kInEachBlock ? std::nullopt : std::optional(tail);
}

/// Why images of one size keep three steps; empty if they are fused.
Refusal size_refusal(const graph::Dim& height, const graph::Dim& width, int64_t channels) {
  if (!width.known()) return "the width of its images is not known";
  const int64_t w = width.value();
  if (channels == kChannels) {
    const int64_t tiles = (w + kTilePixels - 1) / kTilePixels;
    if (w * 4 < tiles * kTilePixels * 3)
      return fmt::format("rows of {} pixels fill less than three quarters of tiles of {}", w, kTilePixels);
    return {};
  }
  if (!height.known()) return "the height of its images is not known";
  // There are two columns between rows of a tile, and the kernel has room for the pixels under the windows of
  // a tile.
  const int64_t rows = (kClusterTilePixels + 2) / (w + 2);
  const int64_t room = channels == 128 ? 104 : 72;
  if (rows * w * 4 < kClusterTilePixels * 3)
    return fmt::format("{} rows of {} pixels fill less than three quarters of tiles of {}", rows, w,
                       kClusterTilePixels);
  if (std::max(rows * (w + 2), kClusterTilePixels + 2) + 2 * (w + 2) > room)
    return fmt::format("rows of {} pixels are too long for {} channels", w, channels);
  const int64_t pieces = channels / kChannels;
  const int64_t blocks = (height.value() + rows - 1) / rows * pieces * pieces;
  if (blocks > kMostBlocks)
    return fmt::format("an image takes {} blocks, and only {} surely run at once", blocks, kMostBlocks);
  return {};
}

/// Why a pattern is kept as it is; empty if it is fused.
Refusal refusal(const Editor& editor, const Tail& tail) {
  const Graph& graph = editor.graph();
  const Node& window = editor.node(tail.window);
  const Node& last = editor.node(tail.last());
  if (!editor.read_once(window.outputs[0]))
    return fmt::format("others want the result of '{}' too", window.name);
  for (const int32_t part : {tail.window, tail.expand, tail.project, tail.next}) {
    if (part < 0) continue;
    if (Refusal reason = bounded_convolution_refusal(graph, editor.node(part), part == tail.last() ? 1 : 0))
      return reason;
  }
  const Node& expand = editor.node(tail.expand);
  if (tail.project >= 0 && !post_ops_of(expand).ops.empty())
    return fmt::format("'{}' has an activation ahead of the addition", expand.name);
  const graph::TensorType& wide = graph.value(last.outputs[0]).type;
  if (wide.dtype != graph::DType::kFloat32) return "its elements are not float32";
  if (!same_shape(graph.value(post_ops_of(last).extras[0]).type, wide)) return "its shortcut is broadcast";
  return size_refusal((*wide.dims)[2], (*wide.dims)[3], channels_of(graph, expand));
}

Node fuse(const Editor& editor, const Tail& tail) {
  std::vector<Part> parts = {{"window", editor.node(tail.window)}, {"expand", editor.node(tail.expand)}};
  if (tail.project >= 0) parts.push_back({"project", editor.node(tail.project)});
  std::vector<ValueId> outputs = {editor.node(tail.last()).outputs[0]};
  if (tail.next >= 0) {
    parts.push_back({"next", editor.node(tail.next)});
    outputs.push_back(parts.back().node.outputs[0]);
  }
  return make_region("bottleneck", parts, outputs);
}

Summary fuse_all(Graph& graph, Filters filters) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i)) continue;
    const std::optional<Tail> tail = find_tail(editor, i, filters);
    if (!tail) continue;
    const std::string first = editor.node(tail->window).name;
    const std::string end = editor.node(tail->next < 0 ? tail->last() : tail->next).name;
    if (const Refusal reason = refusal(editor, *tail)) {
      summary.refuse(fmt::format("'{}' to '{}' not fused: {}", first, end, reason.text()));
      continue;
    }
    summary.change(fmt::format("the bottleneck from '{}' to '{}' became one node", first, end));
    Node fused = fuse(editor, *tail);
    const int32_t last = tail->last();
    for (const int32_t part : {tail->window, tail->expand, tail->next}) {
      if (part >= 0 && part != last) editor.remove(part);
    }
    editor.replace(last, std::move(fused));
  }
  editor.commit();
  return summary;
}

}  // namespace

Summary bottleneck_fusion(Graph& graph) { return fuse_all(graph, Filters::kInEachBlock); }
Summary cluster_bottleneck_fusion(Graph& graph) { return fuse_all(graph, Filters::kInCluster); }

}  // namespace hone::device::cuda
