// Inputs of a sweep: several distinct sets of random values, seeded by the model alone, so that every
// backend, precision and batch sees the same samples. Sample i is the same whatever the batch.
#pragma once

#include <filesystem>
#include <vector>

#include "bench/model_info.hpp"
#include "bench/protocol.hpp"

namespace hone::bench {

/// Sets that a run rotates through: several, so that no cache holds the one answer; few when they are large.
size_t count_sets(const ModelInfo& model, int64_t batch);

class InputPool {
 public:
  /// Writes one file per input into `folder`, with samples enough for every set at the largest batch.
  /// Floating-point values are standard normal, integers in [1, 9], never all zero.
  InputPool(const ModelInfo& model, int64_t max_batch, const std::filesystem::path& folder);

  /// The inputs of one run at a batch: set k holds samples k * batch to (k + 1) * batch - 1.
  std::vector<InputFile> at_batch(int64_t batch, size_t sets) const;

 private:
  const ModelInfo& model_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace hone::bench
