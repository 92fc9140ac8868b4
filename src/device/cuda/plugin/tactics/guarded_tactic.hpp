// Tactics as the engine sees them.
#pragma once

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Makes the tactic's GPU current for each question, which is asked on a thread that may use another one: to
/// answer, the tactic may allocate, copy and load kernels there.
class GuardedTactic final : public engine::Tactic {
 public:
  /// The tactic outlives it.
  GuardedTactic(const CudaTactic& tactic, CUcontext context) : tactic_(&tactic), context_(context) {}

  bool is_for(const graph::Node& node) const { return tactic_->is_for(node); }
  std::string_view name() const override { return tactic_->name(); }
  engine::Offer offer(const engine::StepRequest& request, engine::WeightStore& weights) const override {
    const DeviceGuard guard(context_);
    return tactic_->offer(request, weights);
  }
  std::vector<std::string> variants(const engine::StepRequest& request) const override {
    const DeviceGuard guard(context_);
    return tactic_->variants(request);
  }
  engine::Preparation expect(const engine::StepRequest& request,
                             const std::vector<std::string>& variants) const override {
    const DeviceGuard guard(context_);
    return tactic_->expect(request, variants);
  }
  engine::Offer offer_variant(const engine::StepRequest& request, engine::WeightStore& weights,
                              std::string_view variant) const override {
    const DeviceGuard guard(context_);
    return tactic_->offer_variant(request, weights, variant);
  }

 private:
  const CudaTactic* tactic_;
  CUcontext context_;
};

}  // namespace hone::device::cuda
