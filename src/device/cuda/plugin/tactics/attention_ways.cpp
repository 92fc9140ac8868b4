// See attention_ways.hpp.
#include "device/cuda/plugin/tactics/attention_ways.hpp"

#include <algorithm>
#include <utility>

#include "engine/requirements.hpp"

namespace hone::device::cuda {

using engine::Offer;
using engine::StepRequest;

std::vector<AttentionWay> row_ways() {
  return {{"x8", 8, true}, {"x4", 4, true}, {"x2", 2, true}, {"x1", 1}};
}

engine::Tactic tactic_of_ways(std::string name, std::string operator_name, const Gpu& gpu,
                              const std::vector<AttentionWay>& ways, const OfferWay& offer) {
  engine::Tactic tactic{.name = std::move(name),
                        .operators = {std::move(operator_name)},
                        .requirements = {engine::only_float32, engine::nonempty_output},
                        .starts_early = true};
  tactic.make = [offer, first = ways[0].split](const StepRequest& request, engine::WeightStore&) {
    return offer(request, first);
  };
  tactic.list_variants = [&gpu, offer, ways](const StepRequest& request) {
    std::vector<std::string> names;
    if (offer(request, ways[0].split).refusal) return names;
    for (const AttentionWay& way : ways) {
      if (!way.in_cluster || gpu.properties().clusters) names.emplace_back(way.name);
    }
    return names;
  };
  tactic.make_variant = [&gpu, offer, ways](const StepRequest& request, engine::WeightStore&,
                                            std::string_view variant) {
    const auto way = std::find_if(ways.begin(), ways.end(),
                                  [&](const AttentionWay& each) { return each.name == variant; });
    if (way == ways.end()) return Offer::refuse(fmt::format("'{}' is no way that it has", variant));
    if (way->in_cluster && !gpu.properties().clusters) return Offer::refuse("the device has no clusters");
    return offer(request, way->split);
  };
  return tactic;
}

}  // namespace hone::device::cuda
