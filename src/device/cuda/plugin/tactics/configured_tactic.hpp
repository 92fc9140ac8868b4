// A tactic whose variants are the configurations of one of hone's own kernels, which starts early.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// The functions that define such a tactic. Plan is the task of the kernel, read from a step. Config has
/// text(), which names the variant, and parse().
template <class Plan, class Config>
struct ConfiguredKernel {
  /// The reason why no configuration can run the step; empty if the plan is filled in.
  Refusal (*read)(const engine::StepRequest& request, Plan& plan);
  /// The configurations that are worth trying.
  std::vector<Config> (*configs)(const Plan& plan, const DeviceProperties& device);
  /// The reason why this configuration cannot run the step.
  Refusal (*refusal)(const Plan& plan, const Config& config, const DeviceProperties& device);
  engine::Offer (*make)(Gpu& gpu, const engine::StepRequest& request, const Plan& plan, const Config& config,
                        engine::WeightStore& weights);
};

template <class Plan, class Config>
engine::Tactic configured_tactic(std::string name, std::vector<std::string> operators, Gpu& gpu,
                                 ConfiguredKernel<Plan, Config> kernel,
                                 std::vector<engine::Requirement> requirements = {}) {
  engine::Tactic tactic{.name = std::move(name),
                        .operators = std::move(operators),
                        .requirements = std::move(requirements),
                        .starts_early = true};
  tactic.list_variants = [&gpu, kernel](const engine::StepRequest& request) {
    Plan plan;
    std::vector<std::string> result;
    if (kernel.read(request, plan)) return result;
    for (const Config& config : kernel.configs(plan, gpu.properties())) result.push_back(config.text());
    return result;
  };
  tactic.make = [kernel](const engine::StepRequest& request, engine::WeightStore&) {
    Plan plan;
    Refusal reason = kernel.read(request, plan);
    return engine::Offer::refuse(!reason ? "no configuration fits this device" : std::move(reason));
  };
  tactic.make_variant = [&gpu, kernel](const engine::StepRequest& request, engine::WeightStore& weights,
                                       std::string_view variant) {
    Plan plan;
    if (Refusal reason = kernel.read(request, plan)) return engine::Offer::refuse(std::move(reason));
    const auto config = Config::parse(std::string(variant));
    if (!config) return engine::Offer::refuse(fmt::format("'{}' is no configuration", variant));
    if (Refusal reason = kernel.refusal(plan, *config, gpu.properties()))
      return engine::Offer::refuse(std::move(reason));
    return kernel.make(gpu, request, plan, *config, weights);
  };
  return tactic;
}

}  // namespace hone::device::cuda
