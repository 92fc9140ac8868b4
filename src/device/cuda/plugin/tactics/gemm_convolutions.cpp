// Runs convolutions with hone's own implicit GEMM kernels; every useful configuration is a variant.
#include "device/cuda/plugin/kernels/layers/reorder.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"
#include "device/cuda/plugin/tactics/gemm_kernels.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

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
  // An image with few channels is read in the caller's arrangement and rearranged in the scratch memory.
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
std::vector<typename Kernel::Config> configs(const GemmPlan& plan, const DeviceProperties& device) {
  return Kernel::configs(plan.problem, conv_args(plan.request), device);
}

template <class Kernel>
Refusal refusal(const GemmPlan& plan, const typename Kernel::Config& config, const DeviceProperties& device) {
  return Kernel::refusal(plan.problem, conv_args(plan.request), config, device);
}

template <class Kernel>
engine::Tactic gemm_tactic(Gpu& gpu) {
  return configured_tactic<GemmPlan, typename Kernel::Config>(
      std::string(Kernel::kName), {"Conv", "FusedConv"}, gpu,
      {make_gemm_plan, configs<Kernel>, refusal<Kernel>, make<Kernel>});
}

}  // namespace

void add_gemm_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(gemm_tactic<ResidentGemm>(gpu));
  list.push_back(gemm_tactic<WarpgroupGemm>(gpu));
  list.push_back(gemm_tactic<WarpGemm>(gpu));
  list.push_back(gemm_tactic<ImplicitGemm>(gpu));
}

}  // namespace hone::device::cuda
