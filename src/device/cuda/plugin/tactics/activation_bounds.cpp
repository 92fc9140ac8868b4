// See activation_bounds.hpp.
#include "device/cuda/plugin/tactics/activation_bounds.hpp"

namespace hone::device::cuda {

Refusal read_activation_bounds(const graph::Node& node, std::string_view prefix, StreamEpilogue& out) {
  const graph::Attributes part = node.attributes.part(prefix);
  const auto& names = part.get<std::vector<std::string>>("post_ops");
  ConvArgs args;
  args.step_count = static_cast<int>(names.size());
  if (names.size() > 1) return fmt::format("{}post_ops has more than one activation", prefix);
  if (!names.empty()) {
    args.steps[0].op = *graph::find_post_op(names[0]);
    args.steps[0].alpha = part.get<std::vector<float>>("post_alphas")[0];
    args.steps[0].beta = part.get<std::vector<float>>("post_betas")[0];
  }
  const std::optional<StreamEpilogue> bounds = stream_epilogue(args);
  if (!bounds || bounds->kind != StreamKind::kBounds)
    return fmt::format("{}post_ops is no Relu or Clip", prefix);
  out = *bounds;
  return {};
}

}  // namespace hone::device::cuda
