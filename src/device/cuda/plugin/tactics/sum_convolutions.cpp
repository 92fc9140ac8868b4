// FusedConvSum by warpgroup GEMM: every configuration worth trying is a variant.
#include <algorithm>
#include <limits>

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_sum.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

struct Plan {
  ConvolutionRequest request;  ///< the first convolution
  ConvSum sum;                 ///< of as many images as a launch takes
  int images = 0;              ///< in all
};

/// Empty when the plan is filled in.
Refusal make_plan(const StepRequest& request, Plan& plan) {
  if (tensor::dtype_size(request.compute_dtype) != 2) return "only fp16 and bf16";
  if (Refusal reason = read_convolution_request(request, plan.request)) return reason;
  // They are read before the kernel ahead has ended.
  for (const size_t i : {3, 4}) {
    if (request.node.has_input(i) && !request.graph.value(request.node.inputs[i]).constant)
      return fmt::format("input {} is not constant", i);
  }
  const graph::Convolution second = graph::read_convolution(request.node.attributes.part("second_"),
                                                            request.inputs[2].shape, request.inputs[3].shape);
  if (plan.request.geometry.group != 1 || second.group != 1) return "it has groups";
  const auto steps = plan.request.post_ops.size() > kMaxEpilogueSteps
                         ? std::nullopt
                         : stream_epilogue(conv_args(plan.request));
  if (!steps || steps->kind != StreamKind::kBounds) return "its epilogue is more than bounds";
  // As conv_refusal() has it.
  constexpr int64_t kMostElements = int64_t{1} << 30;
  constexpr int64_t kMostImages = int64_t{1} << 20;
  const int64_t images = plan.request.geometry.batch;
  if (images > std::numeric_limits<int>::max()) return "too many images";
  int64_t together = std::min(images, kMostImages);
  for (const engine::TensorDesc& batch : {request.inputs[0], request.inputs[2], request.outputs[0]}) {
    const int64_t image = tensor::element_count(batch.shape) / images;
    if (image == 0) return "an empty image";
    if (image > kMostElements) return "an image of more than 2^30 elements";
    together = std::min(together, kMostElements / image);
  }
  plan.images = static_cast<int>(images);
  plan.request.has_bias = false;  // it is input 4, not 2
  plan.sum = {conv_problem(plan.request.geometry, element_of(request)),
              conv_problem(second, element_of(request))};
  plan.sum.first.batch = plan.sum.second.batch = static_cast<int>(together);
  return {};
}

std::vector<WarpgroupConfig> configs(const Plan& plan, const DeviceProperties& device) {
  return warpgroup_sum_configs(plan.sum, device);
}

Refusal refusal(const Plan& plan, const WarpgroupConfig& config, const DeviceProperties& device) {
  return warpgroup_sum_refusal(plan.sum, config, device);
}

Offer make(Gpu& gpu, const StepRequest& request, const Plan& plan, const WarpgroupConfig& config,
           engine::WeightStore& weights) {
  Offer offer = make_convolution_offer(request, plan.request, request.compute_dtype);
  offer.inputs[2] = {request.compute_dtype, request.inputs[2].shape, Layout::kChannelsLast};
  const bool has_bias = request.node.has_input(4);
  if (has_bias) offer.inputs[4] = {DType::kFloat32, request.inputs[4].shape, Layout::kPlain};
  const auto pack = [&](size_t operand, const ConvProblem& problem) {
    PackedConstant filter = pack_filter(gpu, request, operand, request.compute_dtype, FilterOrder::kKrsc,
                                        problem.channels, weights);
    offer.packed.push_back(filter.key);
    return filter.device;
  };
  const auto filters = pack(1, plan.sum.first);
  const auto second = pack(3, plan.sum.second);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a sum of convolutions",
      [filters, second, plan, has_bias, config](auto inputs, auto outputs, void*,
                                                const LaunchOptions& options) {
        ConvSumArgs args{conv_args(plan.request)};
        args.x = inputs[0];
        args.w = filters->data();
        args.bias = has_bias ? static_cast<const float*>(inputs[4]) : nullptr;
        args.y = outputs[0];
        args.next_waits = options.next_waits;
        args.second_x = inputs[2];
        args.second_w = second->data();
        return launch_warpgroup_sums(plan.sum, plan.images, config, args, options);
      },
      true);
  return offer;
}

}  // namespace

void add_sum_convolution_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(configured_tactic<Plan, WarpgroupConfig>("warpgroup_sum", {"FusedConvSum"}, gpu,
                                                          {make_plan, configs, refusal, make}));
}

}  // namespace hone::device::cuda
