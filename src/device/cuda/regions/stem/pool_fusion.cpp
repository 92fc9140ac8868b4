// Fuses the convolution of an image with the max pool that is the only reader of its result: at the image's
// resolution, that is the largest result of many a network, and need not be written then.
#include <algorithm>

#include "device/cuda/passes/pass_list.hpp"
#include "graph/convolution_geometry.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

/// Channels that an image has at most.
constexpr int64_t kImageChannels = 4;

/// True for a convolution with few input channels whose output is nearly as fine as its input.
bool is_stem(const Graph& graph, const Node& node) {
  if (node.op != "Conv" && node.op != "FusedConv") return false;
  const graph::TensorType& weights = graph.value(node.inputs[1]).type;
  const auto known = [](const graph::Dim& dim) { return dim.known(); };
  const auto strides = node.attributes.get_or<std::vector<int64_t>>("strides", {});
  // Wider strides leave a result that is small anyway.
  const bool dense = std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride <= 2; });
  return dense && weights.ranked() && weights.dims->size() == 4 &&
         std::all_of(weights.dims->begin(), weights.dims->end(), known) &&
         (*weights.dims)[1].value() <= kImageChannels && node.attributes.get_int("group") == 1;
}

/// Why a pool stays a step of its own; empty when it does not.
Refusal refusal(const Node& pool) {
  if (pool.has_output(1)) return "the indices are wanted";
  const graph::Window window = graph::read_window(pool.attributes, pool.attributes.get_ints("kernel_shape"));
  const auto all = [](const std::vector<int64_t>& values, int64_t least, int64_t most) {
    return std::all_of(values.begin(), values.end(),
                       [=](int64_t value) { return value >= least && value <= most; });
  };
  if (window.rank() != 2 || !all(window.kernel, 3, 3) || !all(window.strides, 2, 2) ||
      !all(window.dilations, 1, 1))
    return "its windows are not of 3 x 3, two apart";
  if (window.auto_pad != graph::AutoPad::kNotSet || !all(window.pads_begin, 0, 1) ||
      !all(window.pads_end, 0, 1))
    return "its padding is more than one pixel";
  return {};
}

}  // namespace

Summary pool_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || !is_stem(graph, editor.node(i))) continue;
    const Node convolution = editor.node(i);
    const int32_t reader = editor.single_reader(convolution.outputs[0]);
    if (reader < 0 || editor.node(reader).op != "MaxPool") continue;
    const Node pool = editor.node(reader);
    if (const Refusal reason = refusal(pool)) {
      summary.refuse(fmt::format("'{}' + '{}' not fused: {}", convolution.name, pool.name, reason.text()));
      continue;
    }
    summary.change(fmt::format("'{}' absorbed '{}' ({})", convolution.name, pool.name, pool.op));
    editor.remove(i);
    editor.replace(reader,
                   make_region("conv_max_pool", {{"conv", convolution}, {"pool", pool}}, {pool.outputs[0]}));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
