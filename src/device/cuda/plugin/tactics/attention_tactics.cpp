// Runs attention regions, and the steps before them, with hone's own kernels.
#include <numeric>

#include "device/cuda/plugin/tactics/attention_request.hpp"
#include "device/cuda/plugin/tactics/attention_ways.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "device/cuda/regions/rotary/plugin/rotary_tactics.hpp"
#include "graph/attention.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;

/// Indices for a region whose inputs are those of its body.
std::vector<size_t> own_positions(const graph::Graph& body) {
  std::vector<size_t> positions(body.inputs.size());
  std::iota(positions.begin(), positions.end(), size_t{0});
  return positions;
}

/// An attention kernel, given the number of blocks or warps that share keys.
using Launch = cudaError_t (*)(const AttentionArgs&, FloatType, const AttentionSize&, int,
                               const LaunchOptions&);
using FindRefusal = Refusal (*)(const AttentionSize&, const DeviceProperties&);

struct AttentionKernel {
  Launch launch;
  FindRefusal refusal;
  std::vector<AttentionWay> ways;
};

Offer offer_attention(const Gpu& gpu, const StepRequest& request, const AttentionKernel& kernel, int split) {
  if (tensor::dtype_size(request.storage()) != 2) return Offer::refuse("only fp16 and bf16");
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  AttentionRequest attention;
  const graph::Graph body = graph::typed_body(request.graph, request.node);
  if (Refusal reason = read_attention_request(request, body, own_positions(body), attention, offer.inputs))
    return Offer::refuse(std::move(reason));
  if (Refusal reason = kernel.refusal(attention.size, gpu.properties()))
    return Offer::refuse(std::move(reason));
  offer.kernel = std::make_shared<LaunchKernel>(
      "an attention",
      [=, launch = kernel.launch, type = float_type(request.storage())](auto inputs, auto outputs, void*,
                                                                        const LaunchOptions& options) {
        return launch(attention.args(inputs, outputs[0]), type, attention.size, split, options);
      },
      true);
  return offer;
}

engine::Tactic attention_tactic(const Gpu& gpu, std::string name, const AttentionKernel& kernel) {
  return tactic_of_ways(std::move(name), "Region:" + std::string(graph::kAttention), gpu, kernel.ways,
                        [&gpu, kernel](const StepRequest& request, int split) {
                          return offer_attention(gpu, request, kernel, split);
                        });
}

}  // namespace

void add_attention_tactics(TacticList& list, Gpu& gpu) {
  // Added before the others, to be the default for few rows even if there is no time to search.
  list.push_back(attention_tactic(gpu, "row_attention", {row_attention, row_attention_refusal, row_ways()}));
  // Variants are named by the rows of a block and by the warpgroups that share its keys.
  const auto sharing = [](std::string_view name, WarpgroupShares shares) {
    return AttentionWay{name, static_cast<int>(shares)};
  };
  list.push_back(
      attention_tactic(gpu, "warpgroup_attention",
                       {warpgroup_attention,
                        warpgroup_attention_refusal,
                        {sharing("64", WarpgroupShares::kNothing), sharing("128", WarpgroupShares::kKeys),
                         sharing("64x2", WarpgroupShares::kRows)}}));
  list.push_back(attention_tactic(gpu, "hone_attention",
                                  {attention, attention_refusal, {{"64", 1}, {"32", 2}, {"16", 4}}}));
  list.push_back(rotary_tactic());
}

}  // namespace hone::device::cuda
