// Caches the reference's outputs on disk: they take seconds for each sample, and change only with the model
// or this build.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::bench {

/// The file for a model; each build of the library has its own. Empty if there is no cache.
std::filesystem::path reference_cache_file(uint64_t outputs_hash);

/// Returns nothing if the file is missing or damaged.
std::optional<std::vector<std::vector<tensor::Tensor>>> read_reference_cache(
    const std::filesystem::path& file);

/// Best effort: a cache that cannot be written does not fail a benchmark.
void write_reference_cache(const std::filesystem::path& file,
                           const std::vector<std::vector<tensor::Tensor>>& outputs);

}  // namespace hone::bench
