// Finds backends by name, in libhone and its plugins, and lists those for a device.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace hone::backend {

/// Names of the backends of libhone and of its plugins,
/// installed or not, in the order in which they are shown.
std::vector<std::string> backend_names();
/// The backends that a benchmark measures on a device if none are named, in the order of their turns: those
/// in the manifests of plugins, then hone. Usage errors are those of tensor::parse_place().
std::vector<std::string> benchmarked_backends(std::string_view device);
/// Usage error, with the known names, unless make_backend() knows the name.
void require_backend(std::string_view name);
/// "partition:FILE" is the backend that runs a partition (partition/partition_backend.hpp). Usage error for
/// an unknown name; environment error, with installation advice, if its plugin is missing; bad input for a
/// file without a partition.
std::unique_ptr<Backend> make_backend(std::string_view name);

}  // namespace hone::backend
