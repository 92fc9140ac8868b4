// A tactic whose variants are the configurations of one kernel.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Plan: what the kernel has to do, read from a step. Config has text(), which names the variant, and
/// parse().
template <class Plan, class Config>
class ConfiguredTactic : public CudaTactic {
 public:
  using CudaTactic::CudaTactic;

  std::vector<std::string> variants(const engine::StepRequest& request) const final {
    Plan plan;
    std::vector<std::string> result;
    if (read(request, plan)) return result;
    for (const Config& config : configs(plan)) result.push_back(config.text());
    return result;
  }

  /// The engine asks for it where there are no variants.
  engine::Offer offer(const engine::StepRequest& request, engine::WeightStore&) const final {
    Plan plan;
    Refusal reason = read(request, plan);
    return engine::Offer::refuse(!reason ? "no configuration fits this device" : std::move(reason));
  }

  engine::Offer offer_variant(const engine::StepRequest& request, engine::WeightStore& weights,
                              std::string_view variant) const final {
    Plan plan;
    if (Refusal reason = read(request, plan)) return engine::Offer::refuse(std::move(reason));
    const auto config = Config::parse(std::string(variant));
    if (!config) return engine::Offer::refuse(fmt::format("'{}' is no configuration", variant));
    if (Refusal reason = refusal(plan, *config)) return engine::Offer::refuse(std::move(reason));
    return make(request, plan, *config, weights);
  }

 private:
  /// Why no configuration can run the step; empty when the plan is filled in.
  virtual Refusal read(const engine::StepRequest& request, Plan& plan) const = 0;
  /// Those worth trying.
  virtual std::vector<Config> configs(const Plan& plan) const = 0;
  /// Why this one cannot run the step; empty when it can.
  virtual Refusal refusal(const Plan& plan, const Config& config) const = 0;
  virtual engine::Offer make(const engine::StepRequest& request, const Plan& plan, const Config& config,
                             engine::WeightStore& weights) const = 0;
};

}  // namespace hone::device::cuda
