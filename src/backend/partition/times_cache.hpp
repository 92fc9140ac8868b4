// Measured times of nodes, kept in the user's cache folder by everything that they depend on: the model's
// structure, the shapes of its inputs, the backend with its version, precision, threads, CPU.
#pragma once

#include <optional>
#include <string>

#include "backend/partition/node_times.hpp"

namespace hone::backend::partition {

/// The key as one text.
std::string times_key(const Subject& subject, const std::string& fingerprint, const Backend& backend);

/// Nothing where there is no readable file with times for that many nodes.
std::optional<NodeTimes> find_times(const std::string& key, size_t nodes);
/// Passed over where the folder cannot be written.
void keep_times(const std::string& key, const NodeTimes& times);

}  // namespace hone::backend::partition
