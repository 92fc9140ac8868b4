// Fuses the convolution of an image and its max pool with the convolution of 1 x 1 that begins the first
// bottleneck behind them (He et al. 2016): it takes what was pooled before that has left the chip.
#include "graph/convolution_geometry.hpp"
#include "transform/convolution_parts.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// What the kernel of the devices that ask for this pass takes (stem_gemm.hpp): channels behind the image,
/// and pixels in 16 bytes of it, of which rows are whole numbers.
constexpr int64_t kChannels = 64;
constexpr int64_t kColumns = 4;

/// The convolution that reads what was pooled as its image, or -1; one that can be a part where some can.
int32_t next_convolution(const Editor& editor, ValueId pooled) {
  int32_t found = -1;
  for (const int32_t reader : editor.readers(pooled)) {
    const Node& node = editor.node(reader);
    if (!is_convolution(editor.graph(), node, {kChannels, kChannels, 1, 1}) || node.inputs[0] != pooled)
      continue;
    if (part_refusal(editor.graph(), node, 0).empty()) return reader;
    if (found < 0) found = reader;
  }
  return found;
}

/// Why both stay apart; empty when they do not.
std::string refusal(const Graph& graph, const Node& stem, const Node& next) {
  const graph::TensorType& filters = graph.value(stem.inputs[1]).type;
  if (!graph.value(stem.inputs[1]).constant || (stem.has_input(2) && !graph.value(stem.inputs[2]).constant))
    return fmt::format("the weights of '{}' are not constant", stem.name);
  if (!filters.dims->front().is(kChannels))
    return fmt::format("'{}' has {} filters", stem.name, filters.dims->front().value());
  if (!ends_with_bounds(post_ops_of(stem), 0))
    return fmt::format("'{}' has more than a Relu or Clip", stem.name);
  const std::vector<int64_t> kernel = {(*filters.dims)[2].value(), (*filters.dims)[3].value()};
  if (!all_are(graph::read_window(stem.attributes, kernel).dilations, 1))
    return fmt::format("'{}' has dilations", stem.name);
  if (graph.value(stem.outputs[0]).type.dtype != graph::DType::kFloat32)
    return "its elements are not float32";
  const graph::TensorType& image = graph.value(stem.inputs[0]).type;
  if (!image.ranked() || !image.dims->back().known()) return "the width of its image is not known";
  if (const int64_t width = image.dims->back().value(); width % kColumns != 0)
    return fmt::format("rows of {} pixels are not whole 16 bytes", width);
  return part_refusal(graph, next, 0);
}

Node fuse(const Node& stem, const Node& next) {
  Node fused = stem;
  fused.op = "FusedStem";
  fused.inputs = {stem.inputs[0], stem.inputs[1], next.inputs[1], stem.input(2), next.input(2)};
  while (fused.inputs.back() == kNoValue) fused.inputs.pop_back();
  fused.outputs.push_back(next.outputs[0]);
  set_activation(fused, "next_", next, 0);
  join_names(fused, stem, next);
  return fused;
}

}  // namespace

Summary stem_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || editor.node(i).op != "FusedConvMaxPool") continue;
    const int32_t next = next_convolution(editor, editor.node(i).outputs[0]);
    if (next < 0) continue;
    const Node& stem = editor.node(i);
    const Node& behind = editor.node(next);
    if (const std::string reason = refusal(graph, stem, behind); !reason.empty()) {
      summary.refuse(fmt::format("'{}' + '{}' not fused: {}", stem.name, behind.name, reason));
      continue;
    }
    summary.change(fmt::format("'{}' absorbed '{}' ({})", stem.name, behind.name, behind.op));
    Node fused = fuse(stem, behind);
    editor.remove(next);
    editor.replace(i, std::move(fused));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
