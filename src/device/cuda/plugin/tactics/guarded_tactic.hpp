// Tactics as the engine sees them.
#pragma once

#include <utility>

#include "device/cuda/plugin/device_guard.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// The function with this context current while it runs; an empty one stays empty.
template <class Result, class... Args>
std::function<Result(Args...)> guarded(std::function<Result(Args...)> function, CUcontext context) {
  if (!function) return function;
  return [function = std::move(function), context](Args... args) {
    const DeviceGuard guard(context);
    return function(std::forward<Args>(args)...);
  };
}

/// Makes the tactic's GPU current for each question, which is asked on a thread that may use another one: to
/// answer, the tactic may allocate, copy and load kernels there.
inline engine::Tactic guarded(engine::Tactic tactic, CUcontext context) {
  tactic.make = guarded(std::move(tactic.make), context);
  tactic.list_variants = guarded(std::move(tactic.list_variants), context);
  tactic.make_variant = guarded(std::move(tactic.make_variant), context);
  tactic.prepare = guarded(std::move(tactic.prepare), context);
  return tactic;
}

}  // namespace hone::device::cuda
