// Convolutions by our own implicit GEMM kernels: every configuration worth trying is a variant.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// A kernel of ours as a tactic sees it: its name, configurations, workspace and launch.
struct ImplicitGemm {
  using Config = ConvConfig;
  static constexpr std::string_view kName = "implicit_gemm";
  static std::vector<Config> configs(const GemmPlan& plan, const DeviceProperties& device) {
    return conv_candidates(plan.problem, device);
  }
  static Refusal refusal(const GemmPlan& plan, const Config& config, const DeviceProperties& device) {
    return conv_refusal(plan.problem, config, device);
  }
  static int64_t workspace_bytes(const ConvProblem& problem, const Config& config) {
    return conv_workspace_bytes(problem, config);
  }
  static int64_t counter_bytes(const ConvProblem& problem, const Config& config) {
    return conv_counter_bytes(problem, config);
  }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_conv(problem, config, args, options);
  }
};

struct ResidentGemm {
  using Config = ResidentConfig;
  static constexpr std::string_view kName = "resident_gemm";
  static std::vector<Config> configs(const GemmPlan& plan, const DeviceProperties& device) {
    return resident_configs(plan.problem, device);
  }
  static Refusal refusal(const GemmPlan& plan, const Config& config, const DeviceProperties& device) {
    return resident_refusal(plan.problem, config, device);
  }
  static int64_t workspace_bytes(const ConvProblem&, const Config&) { return 0; }
  static int64_t counter_bytes(const ConvProblem&, const Config&) { return 0; }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_resident(problem, config, args, options);
  }
};

struct WarpgroupGemm {
  using Config = WarpgroupConfig;
  static constexpr std::string_view kName = "warpgroup_gemm";
  static std::vector<Config> configs(const GemmPlan& plan, const DeviceProperties& device) {
    return warpgroup_configs(plan.problem, device);
  }
  static Refusal refusal(const GemmPlan& plan, const Config& config, const DeviceProperties& device) {
    return warpgroup_refusal(plan.problem, config, device);
  }
  static int64_t workspace_bytes(const ConvProblem&, const Config&) { return 0; }
  static int64_t counter_bytes(const ConvProblem&, const Config&) { return 0; }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_warpgroup(problem, config, args, options);
  }
};

struct WarpGemm {
  using Config = WarpGemmConfig;
  static constexpr std::string_view kName = "warp_gemm";
  static std::vector<Config> configs(const GemmPlan& plan, const DeviceProperties& device) {
    if (stream_epilogue_refusal(plan.request)) return {};
    return warp_gemm_configs(plan.problem, device);
  }
  static Refusal refusal(const GemmPlan& plan, const Config& config, const DeviceProperties& device) {
    if (Refusal why = stream_epilogue_refusal(plan.request)) return why;
    return warp_gemm_refusal(plan.problem, config, device);
  }
  static int64_t workspace_bytes(const ConvProblem&, const Config&) { return 0; }
  static int64_t counter_bytes(const ConvProblem&, const Config&) { return 0; }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_warp_gemm(problem, config, args, options);
  }
};

template <class Kernel>
Offer make(Gpu& gpu, const StepRequest& request, const GemmPlan& plan, const typename Kernel::Config& config,
           engine::WeightStore& weights) {
  Offer offer = make_convolution_offer(request, plan.request, request.storage());
  const ConvProblem& problem = plan.problem;
  const FilterOrder order = problem.element == Element::kTf32 ? FilterOrder::kKrscTf32 : FilterOrder::kKrsc;
  const PackedConstant filter =
      plan.stem ? pack_stem(gpu, request, 1, request.storage(), *plan.stem, StemOrder::kWindows, weights)
                : pack_filter(gpu, request, 1, request.storage(), order, problem.channels, weights);
  offer.packed = {filter.key};
  // An image of few channels comes as the caller has it and is laid out anew in the scratch area.
  if (plan.stem || plan.image_channels != 0)
    offer.inputs[0] = {DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
  const ImageSize image{problem.batch, plan.image_channels, int64_t{problem.height} * problem.width};
  if (plan.stem) offer.scratch_bytes = static_cast<int64_t>(plan.stem->image_elements() * 2);
  if (plan.image_channels != 0)
    offer.scratch_bytes = image.batch * image.pixels * problem.channels * element_bytes(problem.element);
  constexpr int64_t kAlignment = 256;
  const int64_t workspace_at = (offer.scratch_bytes + kAlignment - 1) / kAlignment * kAlignment;
  offer.scratch_bytes = workspace_at + Kernel::workspace_bytes(problem, config);
  offer.counter_bytes = Kernel::counter_bytes(problem, config);

  ConvArgs base = conv_args(plan.request);
  base.w = filter.device->data();
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [=, type = float_type(request.storage()), request = plan.request, stem = plan.stem](
          auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
        (void)filter;  // keeps the weights alive
        ConvArgs args = base;
        args.workspace = static_cast<std::byte*>(scratch) + workspace_at;
        args.counters = options.counters;
        bind_operands(request, inputs, outputs, options, args);
        if (stem) {
          const cudaError_t status =
              launch_pad_image(*stem, static_cast<const float*>(inputs[0]), scratch, options);
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

template <class Kernel>
engine::Tactic gemm_tactic(Gpu& gpu) {
  return configured_tactic<GemmPlan, typename Kernel::Config>(
      std::string(Kernel::kName), {"Conv", "FusedConv"}, gpu,
      {make_gemm_plan, Kernel::configs, Kernel::refusal, make<Kernel>});
}

}  // namespace

void add_gemm_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(gemm_tactic<ResidentGemm>(gpu));
  list.push_back(gemm_tactic<WarpgroupGemm>(gpu));
  list.push_back(gemm_tactic<WarpGemm>(gpu));
  list.push_back(gemm_tactic<ImplicitGemm>(gpu));
}

}  // namespace hone::device::cuda
