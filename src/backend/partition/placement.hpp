// The devices of a partition's blocks, and the cost of passing a value to one of them.
#pragma once

#include <string>
#include <string_view>

#include "backend/backend.hpp"

namespace hone::backend::partition {

/// The device of a backend's blocks: this device, or the CPU if the backend's executables do not bind there.
std::string device_of(const Backend& backend, std::string_view device);

/// On a GPU, blocks that bind read and write values in place; blocks on the host need a copy to the host, a
/// copy back, and a wait. On the CPU it is the backend's own handover.
Handover handover_of(const Backend& backend, std::string_view device);

}  // namespace hone::backend::partition
