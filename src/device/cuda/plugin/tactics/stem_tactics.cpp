// The first convolution of an image network by kernels of ours: every configuration worth trying is a
// variant.
#include "device/cuda/plugin/kernels/stem/stem_gemm.hpp"
#include "device/cuda/plugin/tactics/activation_bounds.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

constexpr std::string_view kWithNext = "FusedStem";
// Inputs of the convolution behind the pool.
constexpr size_t kNextFilters = 3;
constexpr size_t kNextBias = 4;

struct StemPlan {
  GemmPlan convolution;
  std::optional<StemNext> next;  ///< of the convolution behind its pool: its activation
};

/// Empty when a kernel can do what follows the pool.
Refusal read_next(const StepRequest& request, StemNext& next) {
  if (Refusal reason = read_activation_bounds(request.node, "next_", next.bounds)) return reason;
  if (request.inputs[kNextFilters].shape != engine::Shape{StemNext::kChannels, StemNext::kChannels, 1, 1})
    return fmt::format("not {} channels behind its pool", StemNext::kChannels);
  for (const size_t i : {kNextFilters, kNextBias}) {
    if (request.node.has_input(i) && !request.graph.value(request.node.inputs[i]).constant)
      return fmt::format("input {} is not constant", i);
  }
  return {};
}

Refusal add_pool(const StepRequest& request, GemmPlan& plan) {
  const auto axes = graph::pool_axes(request.node.attributes, plan.request.geometry);
  for (const graph::WindowAxis& axis : axes) {
    if (axis.kernel != 3 || axis.stride != 2 || axis.dilation != 1 || axis.pad_begin > 1)
      return "the windows of its pool are not of 3 x 3, two apart";
  }
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  plan.stem->pool = StemPool{narrow(axes[0].pad_begin), narrow(axes[1].pad_begin), narrow(axes[0].output),
                             narrow(axes[1].output)};
  return {};
}

Refusal read(const StepRequest& request, StemPlan& plan) {
  GemmPlan& convolution = plan.convolution;
  if (Refusal reason = make_gemm_plan(request, convolution)) return reason;
  if (!convolution.stem) return "it has enough channels, or elements of four bytes";
  for (const PostOpRequest& post : convolution.request.post_ops) {
    if (graph::is_binary(post.op)) return "its epilogue has an operand";
  }
  if (request.node.op == "FusedConvMaxPool") return add_pool(request, convolution);
  if (request.node.op != kWithNext) return {};
  if (Refusal reason = add_pool(request, convolution)) return reason;
  return read_next(request, plan.next.emplace());
}

std::vector<StemConfig> configs(const StemPlan& plan, const DeviceProperties& device) {
  std::vector<StemConfig> result = stem_configs(*plan.convolution.stem, device);
  if (plan.next)
    std::erase_if(result, [](const StemConfig& config) { return config.way != StemWay::kPooled; });
  return result;
}

Refusal refusal(const StemPlan& plan, const StemConfig& config, const DeviceProperties& device) {
  const StemLayout& stem = *plan.convolution.stem;
  if (Refusal reason = stem_refusal(stem, config, device)) return reason;
  const auto finish = stream_epilogue(conv_args(plan.convolution.request));
  if (config.way != StemWay::kWarps && !finish) return "its epilogue is more than bounds or a swish";
  if (stem.pool && (!finish || finish->kind != StreamKind::kBounds))
    return "what it pools has more than bounds";
  if (plan.next && config.way != StemWay::kPooled) return "nothing can follow its pool";
  return {};
}

Offer offer_with_next(Gpu& gpu, const StepRequest& request, engine::WeightStore& weights,
                      const GemmPlan& plan, const StemNext& next, const StemConfig& config) {
  const DType dtype = request.compute_dtype;
  const bool has_bias = request.node.has_input(kNextBias);
  Offer offer = make_convolution_offer(request, plan.request, dtype);
  offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
  if (has_bias) offer.inputs[kNextBias] = {DType::kFloat32, request.inputs[kNextBias].shape, Layout::kPlain};
  offer.outputs.push_back({dtype, request.outputs[1].shape, Layout::kChannelsLast});
  const PackedConstant filter = pack_stem(gpu, request, 1, dtype, *plan.stem, config.order(), weights);
  const PackedConstant behind = pack_fragments(
      gpu, request, kNextFilters, dtype, "fragments",
      [](int64_t k, int64_t, int64_t c) { return StemNext::next_index(k, c); }, weights);
  offer.packed = {filter.key, behind.key};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [filter, behind, next, has_bias, config, stem = *plan.stem, base = conv_args(plan.request),
       request = plan.request](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ConvArgs args = base;
        bind_operands(request, inputs, outputs, options, args);
        args.w = filter.device->data();
        StemNext bound = next;
        bound.w = behind.device->data();
        bound.bias = has_bias ? static_cast<const float*>(inputs[kNextBias]) : nullptr;
        bound.y = outputs[1];
        return launch_stem_and_next(stem, config, args, bound, options);
      },
      true);
  return offer;
}

Offer make(Gpu& gpu, const StepRequest& request, const StemPlan& stem_plan, const StemConfig& config,
           engine::WeightStore& weights) {
  const GemmPlan& plan = stem_plan.convolution;
  if (stem_plan.next) return offer_with_next(gpu, request, weights, plan, *stem_plan.next, config);
  Offer offer = make_convolution_offer(request, plan.request, request.compute_dtype);
  offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
  const PackedConstant filter =
      pack_stem(gpu, request, 1, request.compute_dtype, *plan.stem, config.order(), weights);
  offer.packed = {filter.key};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [filter, config, stem = *plan.stem, base = conv_args(plan.request), request = plan.request](
          auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ConvArgs args = base;
        bind_operands(request, inputs, outputs, options, args);
        args.w = filter.device->data();
        return launch_stem(stem, config, args, options);
      },
      true);
  return offer;
}

}  // namespace

void add_stem_tactics(TacticList& list, Gpu& gpu) {
  // The first convolution straight from the caller's image, the pool behind it, and the convolution behind
  // that.
  list.push_back(configured_tactic<StemPlan, StemConfig>(
      "stem_gemm", {"Conv", "FusedConv", "FusedConvMaxPool", std::string(kWithNext)}, gpu,
      {read, configs, refusal, make}));
}

}  // namespace hone::device::cuda
