// The backends by name: those of libhone and those of its plugins, and the devices that each is for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace hone::backend {

/// Names of the backends of libhone and of its plugins, whether installed or not, in the order they are
/// shown.
std::vector<std::string> backend_names();
/// The backends that a benchmark measures on a device when none are named, in the order they take turns:
/// those in the manifests of plugins, then hone. Usage error as tensor::parse_place has it.
std::vector<std::string> benchmarked_backends(std::string_view device);
/// Usage error, with the known names, unless make_backend() knows the name.
void require_backend(std::string_view name);
/// "partition:FILE" is the backend that runs a partition (partition/partition_backend.hpp). Usage error for
/// an unknown name; environment error, with how to get it, when its plugin is missing; bad input for a file
/// that holds no partition.
std::unique_ptr<Backend> make_backend(std::string_view name);

}  // namespace hone::backend
