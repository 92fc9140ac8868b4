// Convolutions by our own implicit GEMM kernels: every configuration worth trying is a variant.
#include "device/cuda/plugin/convolution_request.hpp"
#include "device/cuda/plugin/kernels/implicit_gemm.hpp"
#include "device/cuda/plugin/kernels/reorder.hpp"
#include "device/cuda/plugin/kernels/resident_gemm.hpp"
#include "device/cuda/plugin/kernels/stem_gemm.hpp"
#include "device/cuda/plugin/kernels/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/warpgroup_gemm.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

struct Plan {
  ConvolutionRequest request;
  ConvProblem problem;
  /// For images of few channels, which the problem then sees padded: by kernels for two bytes an element, ...
  std::optional<StemLayout> stem;
  /// ... by a reorder otherwise; 0 where nothing is padded.
  int image_channels = 0;
};

/// Empty when the plan is filled in.
std::string make_plan(const StepRequest& request, Plan& plan) {
  if (!is_float_type(request.compute_dtype)) return "no floats";
  if (std::string reason = read_convolution_request(request, plan.request); !reason.empty()) return reason;
  const graph::Convolution& geometry = plan.request.geometry;
  if (geometry.group != 1) return "it has groups";
  if (plan.request.post_ops.size() > kMaxEpilogueSteps) return "too many post-ops";
  // It is read before the kernel ahead has ended.
  if (plan.request.has_bias && !request.graph.value(request.node.inputs[2]).constant)
    return "the bias is not constant";
  constexpr int64_t kMostElements = int64_t{1} << 31;
  if (tensor::element_count(request.inputs[0].shape) >= kMostElements ||
      tensor::element_count(request.outputs[0].shape) >= kMostElements)
    return "an image of 2^31 elements or more";
  ConvProblem& p = plan.problem;
  p = conv_problem(geometry, element_of(request));
  const int multiple = vector_elements(p.element);
  if (p.channels % multiple != 0) {
    plan.stem = stem_layout(p);
    if (plan.stem) {
      p = plan.stem->problem;
    } else if (p.channels < multiple) {
      plan.image_channels = p.channels;
      p.channels = multiple;
    } else {
      return fmt::format("{} input channels, no multiple of {}", p.channels, multiple);
    }
  }
  return conv_refusal(p);
}

void bind_operands(const ConvolutionRequest& request, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const LaunchOptions& options, ConvArgs& args) {
  args.x = inputs[0];
  args.bias = request.has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
  args.y = outputs[0];
  args.next_waits = options.next_waits;
  for (size_t i = 0; i < request.post_ops.size(); ++i) {
    if (graph::is_binary(request.post_ops[i].op)) args.steps[i].operand = inputs[request.post_ops[i].operand];
  }
}

/// A kernel of ours as a tactic sees it: its name, configurations, workspace and launch.
struct ImplicitGemm {
  using Config = ConvConfig;
  static constexpr std::string_view kName = "implicit_gemm";
  static std::vector<Config> configs(const ConvProblem& problem) {
    return conv_candidates(problem, limits());
  }
  static std::string refusal(const ConvProblem& problem, const Config& config) {
    return conv_refusal(problem, config, limits());
  }
  static int64_t workspace_bytes(const ConvProblem& problem, const Config& config) {
    return conv_workspace_bytes(problem, config);
  }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_conv(problem, config, args, options.pdl, options.stream);
  }
};

struct ResidentGemm {
  using Config = ResidentConfig;
  static constexpr std::string_view kName = "resident_gemm";
  static std::vector<Config> configs(const ConvProblem& problem) {
    return resident_configs(problem, limits());
  }
  static std::string refusal(const ConvProblem& problem, const Config& config) {
    return resident_refusal(problem, config, limits());
  }
  static int64_t workspace_bytes(const ConvProblem&, const Config&) { return 0; }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_resident(problem, config, args, options.pdl, options.stream);
  }
};

struct WarpgroupGemm {
  using Config = WarpgroupConfig;
  static constexpr std::string_view kName = "warpgroup_gemm";
  static std::vector<Config> configs(const ConvProblem& problem) {
    return warpgroup_configs(problem, limits());
  }
  static std::string refusal(const ConvProblem& problem, const Config& config) {
    return warpgroup_refusal(problem, config, limits());
  }
  static int64_t workspace_bytes(const ConvProblem&, const Config&) { return 0; }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_warpgroup(problem, config, args, options.pdl, options.stream);
  }
};

template <class Kernel>
class GemmTactic final : public CudaTactic {
 public:
  using Config = typename Kernel::Config;

  std::string_view name() const override { return Kernel::kName; }
  bool handles(const std::string& op) const override { return op == "Conv" || op == "FusedConv"; }

  std::vector<std::string> variants(const StepRequest& request) const override {
    Plan plan;
    if (!make_plan(request, plan).empty()) return {};
    std::vector<std::string> result;
    for (const Config& config : Kernel::configs(plan.problem)) result.push_back(config.text());
    return result;
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    Plan plan;
    std::string reason = make_plan(request, plan);
    return Offer::refuse(reason.empty() ? "no configuration fits this device" : std::move(reason));
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    Plan plan;
    if (std::string reason = make_plan(request, plan); !reason.empty())
      return Offer::refuse(std::move(reason));
    const auto config = Config::parse(std::string(variant));
    if (!config) return Offer::refuse(fmt::format("'{}' is no configuration", variant));
    if (std::string reason = Kernel::refusal(plan.problem, *config); !reason.empty())
      return Offer::refuse(std::move(reason));
    return make(request, plan, *config, weights);
  }

 private:
  static Offer make(const StepRequest& request, const Plan& plan, const Config& config,
                    engine::WeightStore& weights) {
    Offer offer = make_convolution_offer(request, plan.request, request.compute_dtype);
    const ConvProblem& problem = plan.problem;
    const FilterOrder order = problem.element == Element::kTf32 ? FilterOrder::kKrscTf32 : FilterOrder::kKrsc;
    const PackedConstant filter =
        plan.stem ? pack_stem(request, 1, request.compute_dtype, *plan.stem, StemOrder::kWindows, weights)
                  : pack_filter(request, 1, request.compute_dtype, order, problem.channels, weights);
    offer.packed = {filter.key};
    // An image of few channels comes as the caller has it and is laid out anew in the scratch area.
    if (plan.stem || plan.image_channels != 0)
      offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
    const ImageSize image{problem.batch, plan.image_channels, int64_t{problem.height} * problem.width};
    if (plan.stem) offer.scratch_bytes = static_cast<int64_t>(plan.stem->image_elements() * 2);
    if (plan.image_channels != 0)
      offer.scratch_bytes = image.batch * image.pixels * problem.channels * element_bytes(problem.element);
    // Counters in the workspace must start at zero and reset themselves, so it is the kernel's own.
    auto workspace = std::make_shared<DeviceBytes>(Kernel::workspace_bytes(problem, config));
    if (workspace->size() != 0) clear(*workspace);

    ConvArgs base = conv_args(plan.request);
    base.w = filter.device->data();
    base.workspace = workspace->data();
    offer.kernel = std::make_shared<LaunchKernel>(
        "a convolution",
        [=, type = float_type(request.compute_dtype), request = plan.request, stem = plan.stem](
            auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
          (void)filter;     // keeps the weights
          (void)workspace;  // and the counters alive
          ConvArgs args = base;
          bind_operands(request, inputs, outputs, options, args);
          if (stem) {
            const cudaError_t status = launch_pad_image(*stem, static_cast<const float*>(inputs[0]), scratch,
                                                        options.pdl, options.stream);
            if (status != cudaSuccess) return status;
            args.x = scratch;
          }
          if (image.channels != 0) {
            const cudaError_t status =
                reorder_padded(inputs[0], FloatType::kFloat, scratch, type, image, problem.channels, options);
            if (status != cudaSuccess) return status;
            args.x = scratch;
          }
          return Kernel::launch(problem, config, args, options);
        },
        true);
    return offer;
  }
};

/// The first convolution straight from the caller's image, and the pool behind it.
class StemTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "stem_gemm"; }
  bool handles(const std::string& op) const override {
    return op == "Conv" || op == "FusedConv" || op == "FusedConvMaxPool";
  }

  std::vector<std::string> variants(const StepRequest& request) const override {
    Plan plan;
    std::vector<std::string> result;
    if (!make_stem_plan(request, plan).empty()) return result;
    for (const StemConfig& config : stem_configs(*plan.stem, limits())) result.push_back(config.text());
    return result;
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    Plan plan;
    std::string reason = make_stem_plan(request, plan);
    return Offer::refuse(reason.empty() ? "no configuration fits this device" : std::move(reason));
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    Plan plan;
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
  static std::string make_stem_plan(const StepRequest& request, Plan& plan) {
    std::string reason = make_plan(request, plan);
    if (!reason.empty()) return reason;
    if (!plan.stem) return "it has enough channels, or elements of four bytes";
    for (const PostOpRequest& post : plan.request.post_ops) {
      if (graph::is_binary(post.op)) return "its epilogue has an operand";
    }
    return request.node.op == "FusedConvMaxPool" ? add_pool(request, plan) : "";
  }

  static std::string add_pool(const StepRequest& request, Plan& plan) {
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

void add_gemm_tactics(TacticList& list) {
  list.push_back(std::make_unique<StemTactic>());
  list.push_back(std::make_unique<GemmTactic<ResidentGemm>>());
  list.push_back(std::make_unique<GemmTactic<WarpgroupGemm>>());
  list.push_back(std::make_unique<GemmTactic<ImplicitGemm>>());
}

}  // namespace hone::device::cuda
