// See device_passes.hpp.
#include "transform/device_passes.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hone::transform {
namespace {

/// Static objects of other files come before or after those of this one.
std::vector<DevicePasses>& registry() {
  static std::vector<DevicePasses> registered;
  return registered;
}

}  // namespace

RegisteredPasses::RegisteredPasses(DevicePasses brought) { registry().push_back(std::move(brought)); }

const std::vector<DevicePasses>& registered_passes() { return registry(); }

std::vector<Pass> join_passes(std::span<const Pass> own, std::vector<DevicePasses> brought) {
  // The order in which files registered theirs is the linker's.
  std::ranges::stable_sort(brought, {}, &DevicePasses::device);
  for (const DevicePasses& group : brought) {
    if (std::ranges::find(own, group.after, &Pass::name) == own.end())
      fail_internal("passes of {} are to run after '{}', which is no pass", group.device, group.after);
  }
  std::vector<Pass> joined;
  for (const Pass& pass : own) {
    joined.push_back(pass);
    for (const DevicePasses& group : brought) {
      if (group.after != pass.name) continue;
      for (Pass added : group.passes) {
        added.on_request = true;
        joined.push_back(added);
      }
    }
  }
  return joined;
}

}  // namespace hone::transform
