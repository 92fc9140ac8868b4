// See device_passes.hpp.
#include "transform/device_passes.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hone::transform {
namespace {

/// A function-local object, because the initialization order of static objects in different files is
/// undefined.
std::vector<DevicePasses>& registry() {
  static std::vector<DevicePasses> registered;
  return registered;
}

}  // namespace

RegisteredPasses::RegisteredPasses(DevicePasses brought) { registry().push_back(std::move(brought)); }

const std::vector<DevicePasses>& registered_passes() { return registry(); }

std::vector<Pass> join_passes(std::span<const Pass> own, std::vector<DevicePasses> brought) {
  // The order in which files register their passes depends on the linker, so sort by device.
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
