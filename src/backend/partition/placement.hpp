// Where the blocks of a partition compute, and what it takes to hand a value over to one of them.
#pragma once

#include <string>
#include <string_view>

#include "backend/backend.hpp"

namespace hone::backend::partition {

/// In a partition for this device: the device, or the CPU for a backend whose executables do not bind there.
std::string device_of(const Backend& backend, std::string_view device);

/// On a GPU, blocks that bind read and write values where they lie, and blocks on the host take a copy of
/// each, a copy back, and a wait; on the CPU as the backend has it.
Handover handover_of(const Backend& backend, std::string_view device);

}  // namespace hone::backend::partition
