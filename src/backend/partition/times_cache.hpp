// Measured times of nodes in the user's cache folder. The key contains
// everything that they depend on: the model's structure, the shapes of its
// inputs, the backend with its version, the precision, the threads and the CPU.
#pragma once

#include <optional>
#include <string>

#include "backend/partition/node_times.hpp"

namespace hone::backend::partition {

/// The key as a single text.
std::string times_key(const Subject& subject, const std::string& fingerprint, const Backend& backend);

/// Returns nullopt if there is no readable file with times for this number of nodes.
std::optional<NodeTimes> find_times(const std::string& key, size_t nodes);
/// Does nothing if the folder cannot be written.
void keep_times(const std::string& key, const NodeTimes& times);

}  // namespace hone::backend::partition
