// The first convolution of an image network by kernels of ours, also with its max pool (region conv_max_pool)
// and the convolution after that (region stem): every configuration worth trying is a variant.
#include <array>
#include <numeric>
#include <optional>

#include "device/cuda/plugin/tactics/activation_bounds.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"
#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

constexpr std::string_view kPooledForm = "conv=Conv pool=MaxPool(0:conv) -> pool";
constexpr std::string_view kStemForm = "pooled=Region:conv_max_pool next=Conv(0:pooled) -> pooled next";

struct StemPlan {
  GemmPlan convolution;
  std::optional<StemNext> next;  ///< of the convolution after its pool: its activation
};

/// The parts of a step: only a convolution, or one with its pool, or with both.
class StemParts {
 public:
  explicit StemParts(const StepRequest& whole) : conv_(whole) {
    if (!graph::is_region(whole.node)) {
      std::vector<int> positions(whole.inputs.size());
      std::iota(positions.begin(), positions.end(), 0);
      operands_ = PartOperands(std::move(positions));
      return;
    }
    const StepRequest* pooled = &whole;
    if (graph::kind_of(whole.node) == "stem") {
      with_next_.emplace(whole);
      if (with_next_->form() != kStemForm) {
        refusal_ = "its body is no pooled convolution and another one";
        return;
      }
      next_ = &with_next_->part("next");
      pooled = &with_next_->part("pooled").request;
    }
    pooled_.emplace(*pooled);
    if (pooled_->form() != kPooledForm) {
      refusal_ = "its body is no convolution and its pool";
      return;
    }
    pool_ = &pooled_->part("pool");
    const RegionPart& conv = pooled_->part("conv");
    operands_ = next_ == nullptr ? conv.operands : conv.operands.within(with_next_->part("pooled").operands);
    conv_.emplace(conv.request);
    // The kernels make nothing else.
    conv_->outputs = {pooled->outputs[0]};
  }

  /// Why they are no such parts.
  const Refusal& refusal() const { return refusal_; }
  /// The request with the result of the pool where there is one.
  const StepRequest& conv() const { return *conv_; }
  /// Operands of the convolution among the step's inputs.
  const PartOperands& operands() const { return operands_; }
  const RegionPart* pool() const { return pool_; }
  const RegionPart* next() const { return next_; }

 private:
  std::optional<RegionParts> with_next_;
  std::optional<RegionParts> pooled_;
  std::optional<StepRequest> conv_;
  PartOperands operands_;
  const RegionPart* pool_ = nullptr;
  const RegionPart* next_ = nullptr;
  Refusal refusal_;
};

/// Empty when a kernel can do what follows the pool.
Refusal read_next(const RegionPart& part, StemNext& next) {
  if (Refusal reason = read_activation_bounds(part.node, 0, next.bounds)) return reason;
  if (part.request.inputs[1].shape != engine::Shape{StemNext::kChannels, StemNext::kChannels, 1, 1})
    return fmt::format("not {} channels behind its pool", StemNext::kChannels);
  if (Refusal reason = same_size_refusal(part, 1)) return reason;
  for (const size_t i : {1, 2}) {
    if (part.node.has_input(i) && !part.is_constant(i))
      return fmt::format("operand {} of '{}' is not constant", i, part.node.name);
  }
  return {};
}

Refusal add_pool(const RegionPart& part, GemmPlan& plan) {
  const auto axes = graph::pool_axes(part.node.attributes, part.request.inputs[0].shape);
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
  const StemParts parts(request);
  if (parts.refusal()) return parts.refusal();
  GemmPlan& convolution = plan.convolution;
  if (Refusal reason = make_gemm_plan(parts.conv(), convolution)) return reason;
  if (!convolution.stem) return "it has enough channels, or elements of four bytes";
  for (const PostOpRequest& post : convolution.request.post_ops) {
    if (graph::is_binary(post.op)) return "its epilogue has an operand";
  }
  if (parts.pool() != nullptr) {
    if (Refusal reason = add_pool(*parts.pool(), convolution)) return reason;
  }
  return parts.next() == nullptr ? Refusal() : read_next(*parts.next(), plan.next.emplace());
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
  if (config.way != StemWay::kWarps && (!finish || !is_mobile(finish->kind)))
    return "its epilogue is more than bounds, a swish or a hard swish";
  if (stem.pool && (!finish || finish->kind != StreamKind::kBounds))
    return "what it pools has more than bounds";
  if (plan.next && config.way != StemWay::kPooled) return "nothing can follow its pool";
  return {};
}

/// The common data of the launches of every form of the step.
struct Launch {
  std::shared_ptr<const DeviceBytes> filter;
  PartOperands operands;
  StemConfig config;
  StemLayout stem;
  ConvolutionRequest request;

  ConvArgs args(std::span<const void* const> inputs, std::span<void* const> outputs,
                const LaunchOptions& options) const {
    const std::array<const void*, 3> of_conv = {operands.of(inputs, 0), nullptr, operands.of(inputs, 2)};
    ConvArgs result = conv_args(request);
    bind_operands(request, of_conv, outputs, options, result);
    result.w = filter->data();
    return result;
  }
};

Offer with_next(Gpu& gpu, Offer offer, const StepRequest& request, const RegionPart& part,
                const StemNext& next, const Launch& launch, engine::WeightStore& weights) {
  const DType dtype = request.storage();
  std::vector<engine::TensorDesc> wanted(3);
  if (part.node.has_input(2)) wanted[2] = {DType::kFloat32, part.request.inputs[2].shape, Layout::kPlain};
  if (Refusal reason = part.operands.arrange(wanted, offer.inputs)) return Offer::refuse(std::move(reason));
  offer.outputs.push_back({dtype, request.outputs[1].shape, Layout::kChannelsLast});
  const PackedConstant filter = pack_fragments(
      gpu, part.request, 1, dtype, "fragments",
      [](int64_t k, int64_t, int64_t c) { return StemNext::next_index(k, c); }, weights);
  offer.packed.push_back(filter.key);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [launch, filter, next, operands = part.operands](auto inputs, auto outputs, void*,
                                                       const LaunchOptions& options) {
        StemNext bound = next;
        bound.w = filter.device->data();
        bound.bias = static_cast<const float*>(operands.of(inputs, 2));
        bound.y = outputs[1];
        return launch_stem_and_next(launch.stem, launch.config, launch.args(inputs, outputs, options), bound,
                                    options);
      },
      true);
  return offer;
}

Offer make(Gpu& gpu, const StepRequest& request, const StemPlan& plan, const StemConfig& config,
           engine::WeightStore& weights) {
  const StemParts parts(request);
  const DType dtype = request.storage();
  const GemmPlan& convolution = plan.convolution;
  Offer offer = make_convolution_offer(parts.conv(), convolution.request, dtype);
  std::vector<engine::TensorDesc> wanted = std::move(offer.inputs);
  wanted[0] = {DType::kFloat32, parts.conv().inputs[0].shape, Layout::kPlain};
  offer.inputs.assign(request.inputs.size(), {});
  if (Refusal reason = parts.operands().arrange(wanted, offer.inputs))
    return Offer::refuse(std::move(reason));
  const PackedConstant filter =
      pack_stem(gpu, parts.conv(), 1, dtype, *convolution.stem, config.order(), weights);
  offer.packed = {filter.key};
  const Launch launch{filter.device, parts.operands(), config, *convolution.stem, convolution.request};
  if (plan.next) return with_next(gpu, std::move(offer), request, *parts.next(), *plan.next, launch, weights);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [launch](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return launch_stem(launch.stem, launch.config, launch.args(inputs, outputs, options), options);
      },
      true);
  return offer;
}

}  // namespace

void add_stem_tactics(TacticList& list, Gpu& gpu) {
  // The first convolution straight from the caller's image, the pool after it, and the convolution after
  // that.
  list.push_back(configured_tactic<StemPlan, StemConfig>(
      "stem_gemm", {"Conv", "FusedConv", "Region:conv_max_pool", "Region:stem"}, gpu,
      {read, configs, refusal, make}));
}

}  // namespace hone::device::cuda
