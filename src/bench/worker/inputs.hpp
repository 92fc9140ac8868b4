// Inputs of a sweep: several sets of random values whose seed depends only on the model, so that every
// backend, precision and batch gets the same samples. Sample i does not depend on the batch.
#pragma once

#include <filesystem>
#include <vector>

#include "base/random.hpp"
#include "bench/worker/model_info.hpp"
#include "bench/worker/protocol.hpp"
#include "system/process.hpp"

namespace hone::bench {

/// The number of sets through which a run rotates: several, so that caches do not hold the only input; few if
/// they are large.
size_t count_sets(const ModelInfo& model, int64_t batch);

class InputPool {
 public:
  /// Writes one file for each input into `folder`; the files grow with the reserved batches. Values follow
  /// InputInfo; unrestricted floating-point values are standard normal, and integers are in [1, 9], so they
  /// are never all zero. Without a stop flag, writing ends if the whole command is interrupted
  /// (interruption.hpp).
  InputPool(const ModelInfo& model, std::filesystem::path folder, const system::StopFlag* stop = nullptr);
  /// Makes a pool with one batch reserved.
  InputPool(const ModelInfo& model, int64_t batch, std::filesystem::path folder);

  /// Generates enough samples for all sets at this batch. Environment error if memory or the disk is too
  /// small, before anything is written if that is known in advance; earlier reservations stay valid.
  void reserve(int64_t batch);

  /// The inputs of one run at a reserved batch: set k holds samples k * batch to (k + 1) * batch - 1.
  std::vector<InputFile> at_batch(int64_t batch, size_t sets) const;

 private:
  /// The current state of one input's file.
  struct Part {
    std::filesystem::path file;
    base::Random random;  ///< generates the values after those already written
    int64_t units = 0;
  };
  void require_room(int64_t batch, size_t sets) const;
  void grow(const InputInfo& input, int64_t units, Part* part) const;
  /// Writes the units [first_unit, end_unit). The first call overwrites a file that another pool left in the
  /// folder.
  void append(const InputInfo& input, int64_t first_unit, int64_t end_unit, Part* part) const;

  const ModelInfo& model_;
  std::filesystem::path folder_;
  const system::StopFlag* stop_;
  std::vector<Part> parts_;
};

/// Returns the values of every set. Bad input if a file does not contain them.
std::vector<std::vector<tensor::Tensor>> read_input_sets(const std::vector<InputFile>& inputs);

}  // namespace hone::bench
