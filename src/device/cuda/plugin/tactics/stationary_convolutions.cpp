// Runs 3 x 3 convolutions with hone's own kernel that keeps filters in shared memory.
#include <functional>

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"

namespace hone::device::cuda {
namespace {

using engine::Offer;
using engine::StepRequest;

/// Returns an empty refusal if the plan is filled in.
Refusal make_plan(const StepRequest& request, const DeviceProperties& device, GemmPlan& plan) {
  if (Refusal reason = make_gemm_plan(request, plan)) return reason;
  if (plan.stem || plan.image_channels != 0) return "it has few channels";
  const auto finish = stream_epilogue(conv_args(plan.request));
  if (!finish || !has_bounds(finish->kind))
    return "its epilogue is more than bounds, also behind an addition";
  return warpgroup_stationary_refusal(plan.problem, device);
}

Offer offer_stationary(Gpu& gpu, const StepRequest& request, engine::WeightStore& weights) {
  GemmPlan plan;
  if (Refusal reason = make_plan(request, gpu.properties(), plan)) return Offer::refuse(std::move(reason));
  Offer offer = make_convolution_offer(request, plan.request, request.storage());
  const PackedConstant filter = pack_fragments(
      gpu, request, 1, request.storage(), "slabs",
      [channels = plan.problem.channels](int64_t k, int64_t tap, int64_t c) {
        return stationary_place(channels, k, tap, c);
      },
      weights);
  offer.packed = {filter.key};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [filter, base = conv_args(plan.request), request = plan.request, problem = plan.problem](
          auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ConvArgs args = base;
        bind_operands(request, inputs, outputs, options, args);
        args.w = filter.device->data();
        return launch_warpgroup_stationary(problem, args, options);
      },
      true);
  return offer;
}

}  // namespace

void add_stationary_convolution_tactics(TacticList& list, Gpu& gpu) {
  list.push_back({.name = "warpgroup_stationary",
                  .operators = {"Conv", "FusedConv"},
                  .starts_early = true,
                  .make = std::bind_front(offer_stationary, std::ref(gpu))});
}

}  // namespace hone::device::cuda
