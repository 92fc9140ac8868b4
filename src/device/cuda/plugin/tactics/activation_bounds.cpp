// See activation_bounds.hpp.
#include "device/cuda/plugin/tactics/activation_bounds.hpp"

namespace hone::device::cuda {

Refusal read_activation_bounds(const graph::Node& node, size_t from, StreamEpilogue& out) {
  const auto names = node.attributes.get_or<std::vector<std::string>>("post_ops", {});
  ConvArgs args;
  if (names.size() > from + 1) return fmt::format("'{}' has more than one activation", node.name);
  if (names.size() > from) {
    args.step_count = 1;
    args.steps[0].op = *graph::find_post_op(names[from]);
    args.steps[0].alpha = node.attributes.get<std::vector<float>>("post_alphas")[from];
    args.steps[0].beta = node.attributes.get<std::vector<float>>("post_betas")[from];
  }
  const std::optional<StreamEpilogue> bounds = stream_epilogue(args);
  if (!bounds || bounds->kind != StreamKind::kBounds)
    return fmt::format("'{}' ends with more than a Relu or Clip", node.name);
  out = *bounds;
  return {};
}

}  // namespace hone::device::cuda
