// Runs quantized_product regions with the byte GEMM; every useful configuration is a variant.
#include "device/cuda/plugin/tactics/byte_product_plan.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Offer;
using engine::StepRequest;

Offer make(Gpu& gpu, const StepRequest& request, const ByteProductPlan& plan, const WarpgroupConfig& config,
           engine::WeightStore& weights) {
  Offer offer;
  arrange_byte_product(request, plan, offer);
  const PackedByteProduct packed = pack_byte_product(gpu, request, plan, weights);
  offer.packed = {packed.key};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a product of bytes",
      [packed, config, problem = plan.problem, x = plan.chain.x.value, operand = plan.stages.operand](
          auto inputs, auto outputs, void*, const LaunchOptions& options) {
        ByteArgs args = packed.args;
        args.x = inputs[x];
        if (operand) args.operand = inputs[*operand];
        args.y = outputs[0];
        args.next_waits = options.next_waits;
        return launch_bytes(problem, config, args, options);
      },
      true);
  return offer;
}

std::vector<WarpgroupConfig> configs(const ByteProductPlan& plan, const DeviceProperties& device) {
  return byte_configs(plan.problem, device);
}

Refusal refusal(const ByteProductPlan& plan, const WarpgroupConfig& config, const DeviceProperties& device) {
  return byte_refusal(plan.problem, config, device);
}

}  // namespace

void add_byte_product_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(configured_tactic<ByteProductPlan, WarpgroupConfig>(
      "warpgroup_bytes", {"Region:quantized_product"}, gpu, {read_byte_product, configs, refusal, make},
      {engine::nonempty_output}));
}

}  // namespace hone::device::cuda
