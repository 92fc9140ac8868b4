// Registration of passes for one device. They run between those of pass_list.cpp if the device requests them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "transform/pass.hpp"

namespace hone::transform {

/// Passes of one device, in the order in which they run; all of them run only on request.
struct DevicePasses {
  std::string_view device;
  /// The pass of pass_list.cpp after which they run.
  std::string_view after;
  std::vector<Pass> passes;
};

/// For static objects in libhone: adds passes before passes() is first called. A plugin would be too late,
/// and programs that do not load it would not know the names.
struct RegisteredPasses {
  explicit RegisteredPasses(DevicePasses brought);
};

/// The passes registered so far.
const std::vector<DevicePasses>& registered_passes();

/// `own` with the passes of devices inserted at their positions; those of several devices at one position are
/// ordered by the devices' names. Internal error for a position that does not exist.
std::vector<Pass> join_passes(std::span<const Pass> own, std::vector<DevicePasses> brought);

}  // namespace hone::transform
