// The first convolution of an image network straight from the caller's image, with what is behind it: the
// pool, and the convolution that reads the pool.
#include "device/cuda/plugin/convolution_request.hpp"
#include "device/cuda/plugin/kernels/stem_gemm.hpp"
#include "device/cuda/plugin/kernels/stream_epilogue.hpp"
#include "device/cuda/plugin/stem_parts.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

struct StemPlan {
  ConvolutionRequest request;
  StemLayout layout;
};

std::string add_pool(const StepRequest& request, StemPlan& plan) {
  const auto axes = graph::pool_axes(request.node.attributes, plan.request.geometry);
  for (const graph::WindowAxis& axis : axes) {
    if (axis.kernel != 3 || axis.stride != 2 || axis.dilation != 1 || axis.pad_begin > 1)
      return "the windows of its pool are not of 3 x 3, two apart";
  }
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  plan.layout.pool = StemPool{narrow(axes[0].pad_begin), narrow(axes[1].pad_begin), narrow(axes[0].output),
                              narrow(axes[1].output)};
  return {};
}

/// Of a convolution, or one with a pool. Empty when the plan is filled in.
std::string make_plan(const StepRequest& request, StemPlan& plan) {
  if (std::string reason = read_gemm_request(request, plan.request); !reason.empty()) return reason;
  const ConvProblem problem = conv_problem(plan.request.geometry, element_of(request));
  const auto layout =
      problem.channels % vector_elements(problem.element) == 0 ? std::nullopt : stem_layout(problem);
  if (!layout) return "it has enough channels, or elements of four bytes";
  plan.layout = *layout;
  for (const PostOpRequest& post : plan.request.post_ops) {
    if (graph::is_binary(post.op)) return "its epilogue has an operand";
  }
  return request.node.op == "FusedConvMaxPool" ? add_pool(request, plan) : "";
}

/// An offer without its kernel: the image as the caller has it.
Offer make_offer(const StepRequest& request, const StemPlan& plan) {
  Offer offer = make_convolution_offer(request, plan.request, request.compute_dtype);
  offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
  return offer;
}

/// With the pool where there is one.
class StemTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "stem_gemm"; }
  bool handles(const std::string& op) const override {
    return op == "Conv" || op == "FusedConv" || op == "FusedConvMaxPool";
  }

  std::vector<std::string> variants(const StepRequest& request) const override {
    StemPlan plan;
    std::vector<std::string> result;
    if (!make_plan(request, plan).empty()) return result;
    for (const StemConfig& config : stem_configs(plan.layout, limits())) result.push_back(config.text());
    return result;
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    StemPlan plan;
    std::string reason = make_plan(request, plan);
    return Offer::refuse(reason.empty() ? "no configuration fits this device" : std::move(reason));
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    StemPlan plan;
    if (std::string reason = make_plan(request, plan); !reason.empty())
      return Offer::refuse(std::move(reason));
    const auto config = StemConfig::parse(std::string(variant));
    if (!config) return Offer::refuse(fmt::format("'{}' is no configuration", variant));
    if (std::string reason = stem_refusal(plan.layout, *config, limits()); !reason.empty())
      return Offer::refuse(std::move(reason));
    const auto finish = stream_epilogue(conv_args(plan.request));
    if (config->warpgroups && !finish) return Offer::refuse("its epilogue is more than bounds or a swish");
    if (plan.layout.pool && finish->kind != StreamKind::kBounds)
      return Offer::refuse("what it pools has more than bounds");
    Offer offer = make_offer(request, plan);
    const PackedConstant filter =
        pack_stem(request, 1, request.compute_dtype, plan.layout, config->order(), weights);
    offer.packed = {filter.key};
    offer.kernel = std::make_shared<LaunchKernel>(
        "a convolution",
        [filter, plan, config = *config, base = conv_args(plan.request)](auto inputs, auto outputs, void*,
                                                                         const LaunchOptions& options) {
          ConvArgs args = base;
          bind_operands(plan.request, inputs, outputs, options, args);
          args.w = filter.device->data();
          return launch_stem(plan.layout, config, args, options.pdl, options.stream);
        },
        true);
    return offer;
  }
};

/// With the pool and the convolution that reads it.
class FusedStemTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "stem_gemm"; }
  bool handles(const std::string& op) const override { return op == "FusedStem"; }

  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    const StemParts parts(request);
    StemPlan plan;
    ConvolutionRequest behind;
    StemNext next;
    if (std::string reason = read(parts, plan, behind, next); !reason.empty())
      return Offer::refuse(std::move(reason));
    Offer offer = StemParts::joined(request, make_offer(parts.pooled, plan),
                                    make_convolution_offer(parts.next, behind, request.compute_dtype));
    const PackedConstant filter =
        pack_stem(parts.pooled, 1, request.compute_dtype, plan.layout, kConfig.order(), weights);
    const PackedConstant next_filter =
        pack_filter(parts.next, 1, request.compute_dtype, FilterOrder::kKrsc, kChannels, weights);
    offer.packed = {filter.key, next_filter.key};
    offer.kernel = std::make_shared<LaunchKernel>(
        "a stem",
        [filter, next_filter, plan, base = conv_args(plan.request), next, has_bias = behind.has_bias](
            auto inputs, auto outputs, void*, const LaunchOptions& options) {
          ConvArgs args = base;
          bind_operands(plan.request, StemParts::picked(inputs, StemParts::kPooledInputs), outputs, options,
                        args);
          args.w = filter.device->data();
          StemNext behind = next;
          behind.w = next_filter.device->data();
          behind.bias = has_bias ? static_cast<const float*>(inputs[4]) : nullptr;
          behind.y = outputs[1];
          return launch_stem(plan.layout, kConfig, args, options.pdl, options.stream, behind);
        },
        true);
    return offer;
  }

 private:
  static constexpr StemConfig kConfig{256, 64, true};
  static constexpr int64_t kChannels = 64;

  /// Empty when all is filled in that no run changes.
  static std::string read(const StemParts& parts, StemPlan& plan, ConvolutionRequest& behind,
                          StemNext& next) {
    if (std::string reason = make_plan(parts.pooled, plan); !reason.empty()) return reason;
    if (std::string reason = read_gemm_request(parts.next, behind); !reason.empty()) return reason;
    if (behind.geometry.out_channels != kChannels) return "the next convolution has other channels";
    plan.layout.next = true;
    if (std::string reason = stem_refusal(plan.layout, kConfig, limits()); !reason.empty()) return reason;
    const auto finish = stream_epilogue(conv_args(plan.request));
    const auto next_finish = stream_epilogue(conv_args(behind));
    for (const auto& each : {finish, next_finish}) {
      if (!each || each->kind != StreamKind::kBounds) return "an epilogue is more than bounds";
    }
    next.bounds = *next_finish;
    return {};
  }
};

}  // namespace

void add_stem_tactics(TacticList& list) {
  list.push_back(std::make_unique<StemTactic>());
  list.push_back(std::make_unique<FusedStemTactic>());
}

}  // namespace hone::device::cuda
