// Fuses a convolution of small images, as a network's last one is, with the global average pool that is the
// only reader of its result: a kernel that has an image in one tile only writes the means.
#include "device/cuda/passes/pass_list.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

// Limits of the kernel (warpgroup_pooled.hpp).
constexpr int64_t kPixels = 64;
constexpr int64_t kChannelMultiple = 8;

/// Whether the kernel has such an epilogue: the addition of something as large, then a Relu or Clip; a swish
/// or hard swish.
bool is_short(const Graph& graph, const Node& convolution) {
  const PostOps post_ops = post_ops_of(convolution);
  const bool adds = !post_ops.ops.empty() && post_ops.ops[0] == "add";
  if (adds && !same_shape(graph.value(post_ops.extras[0]).type, graph.value(convolution.outputs[0]).type))
    return false;
  const size_t rest = adds ? 1 : 0;
  if (post_ops.ops.size() == rest) return true;
  const std::string& activation = post_ops.ops[rest];
  return post_ops.ops.size() == rest + 1 &&
         (activation == "relu" || activation == "clip" ||
          (!adds && (activation == "swish" || activation == "hard_swish")));
}

/// Why a convolution and its pool stay two steps; empty when they do not.
Refusal refusal(const Graph& graph, const Node& convolution) {
  const auto& filters = graph.value(convolution.inputs[1]).constant;
  if (!filters || (convolution.has_input(2) && !graph.value(convolution.inputs[2]).constant))
    return "its filters or its bias are not constant";
  const graph::TensorType& type = graph.value(convolution.outputs[0]).type;
  if (type.dtype != graph::DType::kFloat32) return "its elements are not float32";
  if (filters->shape().size() != 4) return "its windows have not two axes";
  if (convolution.attributes.get_int("group") != 1) return "it has groups";
  if (filters->shape()[0] % kChannelMultiple != 0 || filters->shape()[1] % kChannelMultiple != 0)
    return fmt::format("its channels or filters are no multiple of {}", kChannelMultiple);
  if (!type.ranked() || !(*type.dims)[2].known() || !(*type.dims)[3].known())
    return "the size of its images is not known";
  const int64_t height = (*type.dims)[2].value();
  const int64_t width = (*type.dims)[3].value();
  if (height > kPixels || width > kPixels || height * width > kPixels)
    return fmt::format("images of {} x {} have more than {} pixels", height, width, kPixels);
  if (!is_short(graph, convolution))
    return "it ends with more than a swish or hard swish, or an addition of its size and a Relu or Clip";
  return {};
}

}  // namespace

Summary global_pool_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || editor.node(i).op != "GlobalAveragePool") continue;
    const Node pool = editor.node(i);
    const int32_t producer = editor.producer(pool.inputs[0]);
    if (producer < 0 || !editor.read_once(pool.inputs[0])) continue;
    const Node convolution = editor.node(producer);
    if (convolution.op != "Conv" && convolution.op != "FusedConv") continue;
    if (const Refusal reason = refusal(graph, convolution)) {
      summary.refuse(fmt::format("'{}' + '{}' not fused: {}", convolution.name, pool.name, reason.text()));
      continue;
    }
    summary.change(fmt::format("'{}' absorbed '{}' ({})", convolution.name, pool.name, pool.op));
    editor.remove(producer);
    editor.replace(i, make_region("conv_global_pool", {{"conv", convolution}, {"pool", pool}}, pool.outputs));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
