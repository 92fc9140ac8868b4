// Regions conv_sum by warpgroup GEMM: every configuration worth trying is a variant.
#include <algorithm>
#include <limits>

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_sum.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"
#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

constexpr std::string_view kForm = "shortcut=Conv sum=Conv(3:shortcut) -> sum";

struct Plan {
  ConvolutionRequest request;  ///< the convolution that adds the other one, without the addition
  ConvSum sum;                 ///< of the images that a launch takes
  int images = 0;              ///< in all
};

/// True if the first post-op adds the other convolution as it is.
bool adds_shortcut(const ConvolutionRequest& sum, const RegionPart& shortcut) {
  if (sum.post_ops.empty() || shortcut.node.has_input(2) || shortcut.node.op != "Conv") return false;
  const PostOpRequest& first = sum.post_ops[0];
  return first.op == graph::PostOp::kAdd && first.operand == 3 && first.shape == OperandShape::kFull;
}

/// Empty when the plan is filled in.
Refusal make_plan(const StepRequest& request, const RegionParts& parts, Plan& plan) {
  if (parts.form() != kForm) return "its body is no sum of two convolutions";
  const RegionPart& sum = parts.part("sum");
  const RegionPart& shortcut = parts.part("shortcut");
  if (Refusal reason = read_convolution_request(sum.request, plan.request)) return reason;
  if (!adds_shortcut(plan.request, shortcut)) return "it does more than to add a convolution";
  plan.request.post_ops.erase(plan.request.post_ops.begin());
  // They are read before the kernel ahead has ended.
  if (!shortcut.is_constant(1) || (sum.node.has_input(2) && !sum.is_constant(2)))
    return "filters or the bias are not constant";
  const graph::Convolution second = shortcut.geometry();
  if (plan.request.geometry.group != 1 || second.group != 1) return "it has groups";
  const auto steps = plan.request.post_ops.size() > kMaxEpilogueSteps
                         ? std::nullopt
                         : stream_epilogue(conv_args(plan.request));
  if (!steps || steps->kind != StreamKind::kBounds) return "its epilogue is more than bounds";
  // Limits of conv_refusal().
  constexpr int64_t kMostElements = int64_t{1} << 30;
  constexpr int64_t kMostImages = int64_t{1} << 20;
  const int64_t images = plan.request.geometry.batch;
  if (images > std::numeric_limits<int>::max()) return "too many images";
  int64_t together = std::min(images, kMostImages);
  for (const TensorDesc& batch : {sum.request.inputs[0], shortcut.request.inputs[0], request.outputs[0]}) {
    const int64_t image = tensor::element_count(batch.shape) / images;
    if (image == 0) return "an empty image";
    if (image > kMostElements) return "an image of more than 2^30 elements";
    together = std::min(together, kMostElements / image);
  }
  plan.images = static_cast<int>(images);
  plan.sum = {conv_problem(plan.request.geometry, element_of(request)),
              conv_problem(second, element_of(request))};
  plan.sum.first.batch = plan.sum.second.batch = static_cast<int>(together);
  return {};
}

Refusal read(const StepRequest& request, Plan& plan) {
  return make_plan(request, RegionParts(request), plan);
}

std::vector<WarpgroupConfig> configs(const Plan& plan, const DeviceProperties& device) {
  return warpgroup_sum_configs(plan.sum, device);
}

Refusal refusal(const Plan& plan, const WarpgroupConfig& config, const DeviceProperties& device) {
  return warpgroup_sum_refusal(plan.sum, config, device);
}

Offer make(Gpu& gpu, const StepRequest& request, const Plan& plan, const WarpgroupConfig& config,
           engine::WeightStore& weights) {
  const RegionParts parts(request);
  const RegionPart& sum = parts.part("sum");
  const RegionPart& shortcut = parts.part("shortcut");
  const DType dtype = request.storage();
  Offer offer = make_convolution_offer(sum.request, plan.request, dtype);
  const std::vector<TensorDesc> wanted = std::move(offer.inputs);
  offer.inputs.assign(request.inputs.size(), {});
  Refusal reason = sum.operands.arrange(wanted, offer.inputs);
  if (!reason) {
    reason = shortcut.operands.arrange({{dtype, shortcut.request.inputs[0].shape, Layout::kChannelsLast}},
                                       offer.inputs);
  }
  if (reason) return Offer::refuse(std::move(reason));
  const auto pack = [&](const RegionPart& part, const ConvProblem& problem) {
    PackedConstant filter =
        pack_filter(gpu, part.request, 1, dtype, FilterOrder::kKrsc, problem.channels, weights);
    offer.packed.push_back(filter.key);
    return filter.device;
  };
  const auto filters = pack(sum, plan.sum.first);
  const auto second = pack(shortcut, plan.sum.second);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a sum of convolutions",
      [filters, second, plan, config, of_sum = sum.operands, of_shortcut = shortcut.operands](
          auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ConvSumArgs args{conv_args(plan.request)};
        args.x = of_sum.of(inputs, 0);
        args.w = filters->data();
        args.bias = static_cast<const float*>(of_sum.of(inputs, 2));
        args.y = outputs[0];
        args.next_waits = options.next_waits;
        args.second_x = of_shortcut.of(inputs, 0);
        args.second_w = second->data();
        return launch_warpgroup_sums(plan.sum, plan.images, config, args, options);
      },
      true);
  return offer;
}

}  // namespace

void add_sum_convolution_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(configured_tactic<Plan, WarpgroupConfig>("warpgroup_sum", {"Region:conv_sum"}, gpu,
                                                          {read, configs, refusal, make},
                                                          {engine::only_fp16_and_bf16}));
}

}  // namespace hone::device::cuda
