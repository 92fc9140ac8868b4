// The first convolution of an image network by kernels of ours: every configuration worth trying is a
// variant.
#include "device/cuda/plugin/kernels/stem/stem_gemm.hpp"
#include "device/cuda/plugin/tactics/activation_bounds.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// The first convolution straight from the caller's image, the pool behind it, and the convolution behind
/// that.
class StemTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "stem_gemm"; }
  bool handles(const std::string& op) const override {
    return op == "Conv" || op == "FusedConv" || op == "FusedConvMaxPool" || op == kWithNext;
  }

  std::vector<std::string> variants(const StepRequest& request) const override {
    GemmPlan plan;
    std::vector<std::string> result;
    if (!make_stem_plan(request, plan).empty()) return result;
    for (const StemConfig& config : stem_configs(*plan.stem, limits())) {
      if (request.node.op != kWithNext || config.way == StemWay::kPooled) result.push_back(config.text());
    }
    return result;
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    GemmPlan plan;
    std::string reason = make_stem_plan(request, plan);
    return Offer::refuse(reason.empty() ? "no configuration fits this device" : std::move(reason));
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    GemmPlan plan;
    if (std::string reason = make_stem_plan(request, plan); !reason.empty())
      return Offer::refuse(std::move(reason));
    const auto config = StemConfig::parse(std::string(variant));
    if (!config) return Offer::refuse(fmt::format("'{}' is no configuration", variant));
    if (std::string reason = stem_refusal(*plan.stem, *config, limits()); !reason.empty())
      return Offer::refuse(std::move(reason));
    const auto finish = stream_epilogue(conv_args(plan.request));
    if (config->way != StemWay::kWarps && !finish)
      return Offer::refuse("its epilogue is more than bounds or a swish");
    if (plan.stem->pool && finish->kind != StreamKind::kBounds)
      return Offer::refuse("what it pools has more than bounds");
    if (request.node.op == kWithNext) return offer_with_next(request, weights, plan, *config);
    Offer offer = make_convolution_offer(request, plan.request, request.compute_dtype);
    offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
    const PackedConstant filter =
        pack_stem(request, 1, request.compute_dtype, *plan.stem, config->order(), weights);
    offer.packed = {filter.key};
    offer.kernel = std::make_shared<LaunchKernel>(
        "a convolution",
        [filter, config = *config, stem = *plan.stem, base = conv_args(plan.request), request = plan.request](
            auto inputs, auto outputs, void*, const LaunchOptions& options) {
          ConvArgs args = base;
          bind_operands(request, inputs, outputs, options, args);
          args.w = filter.device->data();
          return launch_stem(stem, config, args, options.pdl, options.stream);
        },
        true);
    return offer;
  }

 private:
  static constexpr std::string_view kWithNext = "FusedStem";

  static Offer offer_with_next(const StepRequest& request, engine::WeightStore& weights, const GemmPlan& plan,
                               const StemConfig& config) {
    constexpr size_t kFilters = 3;
    constexpr size_t kBias = 4;
    const DType dtype = request.compute_dtype;
    if (config.way != StemWay::kPooled) return Offer::refuse("nothing can follow its pool");
    StemNext next;
    if (std::string reason = read_activation_bounds(request.node, "next_", next.bounds); !reason.empty())
      return Offer::refuse(std::move(reason));
    if (request.inputs[kFilters].shape != engine::Shape{StemNext::kChannels, StemNext::kChannels, 1, 1})
      return Offer::refuse(fmt::format("not {} channels behind its pool", StemNext::kChannels));
    const bool has_bias = request.node.has_input(kBias);
    for (const size_t i : {kFilters, kBias}) {
      if (request.node.has_input(i) && !request.graph.value(request.node.inputs[i]).constant)
        return Offer::refuse(fmt::format("input {} is not constant", i));
    }
    Offer offer = make_convolution_offer(request, plan.request, dtype);
    offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
    if (has_bias) offer.inputs[kBias] = {DType::kFloat32, request.inputs[kBias].shape, Layout::kPlain};
    offer.outputs.push_back({dtype, request.outputs[1].shape, Layout::kChannelsLast});
    const PackedConstant filter = pack_stem(request, 1, dtype, *plan.stem, config.order(), weights);
    const PackedConstant behind = pack_fragments(
        request, kFilters, dtype, "fragments",
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
          bound.bias = has_bias ? static_cast<const float*>(inputs[kBias]) : nullptr;
          bound.y = outputs[1];
          return launch_stem_and_next(stem, config, args, bound, options.pdl, options.stream);
        },
        true);
    return offer;
  }

  static std::string make_stem_plan(const StepRequest& request, GemmPlan& plan) {
    std::string reason = make_gemm_plan(request, plan);
    if (!reason.empty()) return reason;
    if (!plan.stem) return "it has enough channels, or elements of four bytes";
    for (const PostOpRequest& post : plan.request.post_ops) {
      if (graph::is_binary(post.op)) return "its epilogue has an operand";
    }
    return request.node.op == "FusedConvMaxPool" || request.node.op == kWithNext ? add_pool(request, plan)
                                                                                 : "";
  }

  static std::string add_pool(const StepRequest& request, GemmPlan& plan) {
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
};

}  // namespace

void add_stem_tactics(TacticList& list) { list.push_back(std::make_unique<StemTactic>()); }

}  // namespace hone::device::cuda
