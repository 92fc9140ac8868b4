// Makes a GPU current around the functions of tactics and kernels.
#pragma once

#include <memory>
#include <utility>

#include "device/cuda/plugin/device_guard.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// Returns the function with this context made current while it runs; an empty function stays empty.
template <class Result, class... Args>
std::function<Result(Args...)> guarded(std::function<Result(Args...)> function, CUcontext context) {
  if (!function) return function;
  return [function = std::move(function), context](Args... args) {
    const DeviceGuard guard(context);
    return function(std::forward<Args>(args)...);
  };
}

/// Makes the tactic's GPU current in each call, because the calling thread may use another GPU, and the
/// tactic may allocate, copy and load kernels.
inline engine::Tactic guarded(engine::Tactic tactic, CUcontext context) {
  tactic.make = guarded(std::move(tactic.make), context);
  tactic.list_variants = guarded(std::move(tactic.list_variants), context);
  tactic.make_variant = guarded(std::move(tactic.make_variant), context);
  tactic.prepare = guarded(std::move(tactic.prepare), context);
  return tactic;
}

class GuardedKernel final : public engine::Kernel {
 public:
  GuardedKernel(std::shared_ptr<const engine::Kernel> kernel, CUcontext context)
      : kernel_(std::move(kernel)), context_(context) {}

  void run(const engine::Run& run) const override {
    const DeviceGuard guard(context_);
    kernel_->run(run);
  }
  std::unique_ptr<engine::KernelState> make_state() const override { return kernel_->make_state(); }
  bool runs_on_host() const override { return kernel_->runs_on_host(); }

 private:
  std::shared_ptr<const engine::Kernel> kernel_;
  CUcontext context_;
};

/// A kernel that callers run in threads that may use another GPU. Executors make their GPU current
/// themselves.
inline std::shared_ptr<const engine::Kernel> guarded(std::shared_ptr<const engine::Kernel> kernel,
                                                     CUcontext context) {
  return std::make_shared<GuardedKernel>(std::move(kernel), context);
}

}  // namespace hone::device::cuda
