// The backend "partition:FILE", which runs a model as the partition in the file specifies.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backend/backend.hpp"

namespace hone::backend::partition {

/// Prefix of the names of backends that are partition files.
inline constexpr std::string_view kPrefix = "partition:";

inline bool is_partition(std::string_view backend) { return backend.starts_with(kPrefix); }

/// Reads the file; bad input if it contains no partition.
std::unique_ptr<Backend> make_partition_backend(std::string_view name);

}  // namespace hone::backend::partition
