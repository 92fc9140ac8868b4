// What the registry knows of backends beyond their names (backend.hpp): which of them are for what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::backend {

/// Those that a benchmark measures on a device when none are named, in the order they take turns: what the
/// manifests of plugins say, then hone. Usage error as tensor::parse_place has it.
std::vector<std::string> benchmarked_backends(std::string_view device);

}  // namespace hone::backend
