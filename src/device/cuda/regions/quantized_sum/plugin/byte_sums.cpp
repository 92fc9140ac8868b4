// Regions quantized_sum by the GEMM of bytes: every configuration worth trying is a variant.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_sum.hpp"
#include "device/cuda/plugin/tactics/byte_product_plan.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Offer;
using engine::StepRequest;

struct Plan {
  ByteProductPlan shortcut;
  ByteProductPlan sum;  ///< adds the bytes that the shortcut makes

  ByteSum problem() const { return {shortcut.problem, sum.problem}; }
};

/// The first operand of a part that is made inside the region; the number of operands where none is.
size_t made_operand(const RegionPart& part) {
  size_t operand = 0;
  while (operand < part.operands.count() && part.operands.position(operand) >= 0) ++operand;
  return operand;
}

Refusal form_refusal(const RegionParts& parts) {
  const RegionPart* const sum = parts.find("sum");
  const std::string expected = sum == nullptr ? ""
                                              : fmt::format(
                                                    "shortcut=Region:quantized_product "
                                                    "sum=Region:quantized_product({}:shortcut) -> sum",
                                                    made_operand(*sum));
  return parts.form() == expected ? Refusal() : Refusal("its body is no product that adds another one");
}

/// Empty when the plan is filled in.
Refusal read(const StepRequest& request, Plan& plan) {
  const RegionParts parts(request);
  if (Refusal reason = form_refusal(parts)) return reason;
  const RegionPart& sum = parts.part("sum");
  if (Refusal reason = read_byte_product(parts.part("shortcut").request, plan.shortcut)) return reason;
  if (Refusal reason = read_byte_product(sum.request, plan.sum)) return reason;
  if (plan.sum.stages.operand != made_operand(sum)) return "it does more than to add a product";
  if (plan.shortcut.result.layout != plan.sum.result.layout) return "one is a convolution, the other is none";
  return {};
}

Offer make(Gpu& gpu, const StepRequest& request, const Plan& plan, const WarpgroupConfig& config,
           engine::WeightStore& weights) {
  const RegionParts parts(request);
  const RegionPart& shortcut = parts.part("shortcut");
  const RegionPart& sum = parts.part("sum");
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  for (const auto& [part, of_part] : {std::pair(&shortcut, &plan.shortcut), std::pair(&sum, &plan.sum)}) {
    Offer own;
    arrange_byte_product(part->request, *of_part, own);
    if (Refusal reason = part->operands.arrange(own.inputs, offer.inputs))
      return Offer::refuse(std::move(reason));
    offer.outputs = own.outputs;
  }
  const PackedByteProduct first = pack_byte_product(gpu, shortcut.request, plan.shortcut, weights);
  const PackedByteProduct second = pack_byte_product(gpu, sum.request, plan.sum, weights);
  offer.packed = {first.key, second.key};
  const auto x_of = [](const RegionPart& part, const ByteProductPlan& of_part) {
    return static_cast<size_t>(part.operands.position(of_part.chain.x.value));
  };
  offer.kernel = std::make_shared<LaunchKernel>(
      "a sum of products of bytes",
      [first, second, config, problem = plan.problem(), x = x_of(shortcut, plan.shortcut),
       second_x = x_of(sum, plan.sum)](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ByteSumArgs args{first.args, second.args};
        args.first.x = inputs[x];
        args.second.x = inputs[second_x];
        args.second.y = outputs[0];
        args.second.next_waits = options.next_waits;
        return launch_byte_sum(problem, config, args, options);
      },
      true);
  return offer;
}

std::vector<WarpgroupConfig> configs(const Plan& plan, const DeviceProperties& device) {
  return byte_sum_configs(plan.problem(), device);
}

Refusal refusal(const Plan& plan, const WarpgroupConfig& config, const DeviceProperties& device) {
  return byte_sum_refusal(plan.problem(), config, device);
}

}  // namespace

void add_byte_sum_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(configured_tactic<Plan, WarpgroupConfig>("warpgroup_byte_sum", {"Region:quantized_sum"}, gpu,
                                                          {read, configs, refusal, make},
                                                          {engine::nonempty_output}));
}

}  // namespace hone::device::cuda
