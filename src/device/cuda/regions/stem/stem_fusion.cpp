// Fuses the convolution of an image and its max pool with the convolution of 1 x 1 that reads what they make,
// as bottlenecks begin: of few images it takes little more time where the pool's result lies already.
#include "device/cuda/passes/pass_list.hpp"
#include "graph/region.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

// Limits of the kernel (warpgroup_pooled_stem.hpp).
constexpr int64_t kImageChannels = 4;
constexpr int64_t kChannels = 64;  ///< after each convolution
constexpr int64_t kRowMultiple = 4;
/// Larger images have enough work in each step.
constexpr int64_t kMostPixels = int64_t{256} * 256;

/// The convolution of 1 x 1 that reads `image`, or -1.
int32_t next_convolution(const Editor& editor, ValueId image) {
  for (const int32_t reader : editor.readers(image)) {
    const Node& node = editor.node(reader);
    if (is_convolution(editor.graph(), node, {kChannels, kChannels, 1, 1}) && node.inputs[0] == image)
      return reader;
  }
  return -1;
}

/// Why a stem stays with only its pool; empty when it does not.
Refusal refusal(const Graph& graph, const Node& stem, const Node& next) {
  const graph::TensorType& image = graph.value(stem.inputs[0]).type;
  const auto& filters = graph.value(stem.inputs[1]).constant;
  if (image.dtype != graph::DType::kFloat32) return "its elements are not float32";
  if (!filters || filters->shape().size() != 4) return "its filters are not constant";
  const tensor::Shape& shape = filters->shape();
  constexpr int64_t kWindow = 7;
  if (shape[0] != kChannels || shape[1] > kImageChannels || shape[2] != kWindow || shape[3] != kWindow)
    return fmt::format("it has not {} filters of {} x {}", kChannels, kWindow, kWindow);
  for (const auto& [node, stride] : {std::pair(&stem, 2), std::pair(&next, 1)}) {
    if (Refusal reason = bounded_convolution_refusal(graph, *node, 0, stride)) return reason;
  }
  if (!image.ranked()) return "the size of its images is not known";
  const graph::Dim& height = (*image.dims)[2];
  const graph::Dim& width = (*image.dims)[3];
  if (!height.known() || !width.known()) return "the size of its images is not known";
  if (width.value() % kRowMultiple != 0)
    return fmt::format("rows of {} pixels are no multiple of {}", width.value(), kRowMultiple);
  if (height.value() * width.value() > kMostPixels)
    return fmt::format("images of {} x {} pixels are large", height.value(), width.value());
  return {};
}

/// The convolution of a pooled one, by the name of both.
Node convolution_of(const Node& pooled) {
  Node convolution = graph::outer_part(pooled, *graph::find_part(pooled, "conv"));
  convolution.name = pooled.name;
  return convolution;
}

}  // namespace

Summary stem_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || graph::kind_of(editor.node(i)) != "conv_max_pool") continue;
    const Node pooled = editor.node(i);
    const int32_t reader = next_convolution(editor, pooled.outputs[0]);
    if (reader < 0) continue;
    const Node next = editor.node(reader);
    if (const Refusal reason = refusal(graph, convolution_of(pooled), next)) {
      summary.refuse(fmt::format("'{}' + '{}' not fused: {}", pooled.name, next.name, reason.text()));
      continue;
    }
    summary.change(fmt::format("'{}' absorbed '{}' ({})", pooled.name, next.name, next.op));
    editor.remove(reader);
    editor.replace(
        i, make_region("stem", {{"pooled", pooled}, {"next", next}}, {pooled.outputs[0], next.outputs[0]}));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
