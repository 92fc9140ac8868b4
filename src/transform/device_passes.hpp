// The way in which a device brings passes that only it wants: they run among those of pass_list.cpp, where it
// asks for them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "transform/pass.hpp"

namespace hone::transform {

/// Passes of one device, in the order they run; all of them are on request.
struct DevicePasses {
  std::string_view device;
  /// The pass of pass_list.cpp after which they run.
  std::string_view after;
  std::vector<Pass> passes;
};

/// For static objects of libhone: adds to passes() before anybody asks for them. A plugin would come too
/// late, and programs that do not load it would not know the names.
struct RegisteredPasses {
  explicit RegisteredPasses(DevicePasses brought);
};

/// The passes registered so far.
const std::vector<DevicePasses>& registered_passes();

/// `own` with the passes of devices in their places, those of several devices at one place by the devices'
/// names. Internal error for a place that is not there.
std::vector<Pass> join_passes(std::span<const Pass> own, std::vector<DevicePasses> brought);

}  // namespace hone::transform
