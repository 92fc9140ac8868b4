// Regions conv_global_pool, a convolution and the global average pool of its result, by one kernel of ours.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"
#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

constexpr std::string_view kForm = "conv=Conv pool=GlobalAveragePool(0:conv) -> pool";

struct Plan {
  ConvolutionRequest request;
  ConvProblem problem;
};

/// Empty when the plan is filled in. `request` is that of the convolution.
Refusal make_plan(const StepRequest& request, Plan& plan) {
  if (Refusal reason = read_convolution_request(request, plan.request)) return reason;
  if (plan.request.geometry.group != 1) return "it has groups";
  if (plan.request.post_ops.size() > kMaxEpilogueSteps) return "too many post-ops";
  if (Refusal reason = warpgroup_pooled_steps_refusal(conv_args(plan.request))) return reason;
  // It is read before the kernel ahead has ended.
  if (plan.request.has_bias && !request.graph.value(request.node.inputs[2]).constant)
    return "the bias is not constant";
  constexpr int64_t kMostElements = int64_t{1} << 31;
  if (tensor::element_count(request.inputs[0].shape) >= kMostElements ||
      tensor::element_count(request.outputs[0].shape) >= kMostElements)
    return "an image of 2^31 elements or more";
  plan.problem = conv_problem(plan.request.geometry, element_of(request));
  return {};
}

Refusal read(const StepRequest& request, Plan& plan) {
  const RegionParts parts(request);
  if (parts.form() != kForm) return "its body is no convolution and its pool";
  return make_plan(parts.part("conv").request, plan);
}

std::vector<WarpgroupConfig> configs(const Plan& plan, const DeviceProperties& device) {
  return warpgroup_pooled_configs(plan.problem, device);
}

Refusal refusal(const Plan& plan, const WarpgroupConfig& config, const DeviceProperties& device) {
  return warpgroup_pooled_refusal(plan.problem, config, device);
}

Offer make(Gpu& gpu, const StepRequest& request, const Plan& plan, const WarpgroupConfig& config,
           engine::WeightStore& weights) {
  const RegionParts parts(request);
  const RegionPart& conv = parts.part("conv");
  Offer offer = make_convolution_offer(conv.request, plan.request, request.storage());
  const std::vector<engine::TensorDesc> wanted = std::move(offer.inputs);
  offer.inputs.assign(request.inputs.size(), {});
  if (Refusal reason = conv.operands.arrange(wanted, offer.inputs)) return Offer::refuse(std::move(reason));
  // As a global pool leaves it, so that a matrix product can read it.
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  const PackedConstant filter = pack_filter(gpu, conv.request, 1, request.storage(), FilterOrder::kKrsc,
                                            plan.problem.channels, weights);
  offer.packed = {filter.key};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution and its pool",
      [filter, plan, config, operands = conv.operands](auto inputs, auto outputs, void*,
                                                       const LaunchOptions& options) {
        ConvArgs args = conv_args(plan.request);
        args.x = operands.of(inputs, 0);
        args.w = filter.device->data();
        args.bias = static_cast<const float*>(operands.of(inputs, 2));
        args.y = outputs[0];
        args.next_waits = options.next_waits;
        for (size_t i = 0; i < plan.request.post_ops.size(); ++i) {
          const PostOpRequest& post = plan.request.post_ops[i];
          if (graph::is_binary(post.op)) args.steps[i].operand = operands.of(inputs, post.operand);
        }
        return launch_warpgroup_pooled(plan.problem, config, args, options);
      },
      true);
  return offer;
}

}  // namespace

void add_global_pooled_convolution_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(configured_tactic<Plan, WarpgroupConfig>("warpgroup_pooled", {"Region:conv_global_pool"},
                                                          gpu, {read, configs, refusal, make},
                                                          {engine::only_fp16_and_bf16}));
}

}  // namespace hone::device::cuda
